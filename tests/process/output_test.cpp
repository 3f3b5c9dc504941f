// SPDX-License-Identifier: MIT
// What passes through the pipes of a watched command.
#include <random>

#include "probe.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string random_bytes(std::size_t size) {
    std::mt19937_64 random{20240607};
    std::string bytes(size, '\0');
    for (auto& byte : bytes)
        byte = static_cast<char>(random());
    return bytes;
}

std::string shell_wrap(const TempDir& dir) {
    return k_probe + " wrap --no-terminal --watch --report " + dir.file("report") + " -- ";
}

}  // namespace

TEST_CASE("output: 20 MB of any bytes pass unchanged", "[process]") {
    const TempDir dir;
    const auto bytes = random_bytes(20'000'000);
    write_file(dir.file("in"), bytes);
    SECTION("to a pipe") {
        const auto result = run_program(
            wrapped({"--watch", "--report", dir.file("report")}, {"cat", dir.file("in")}), off_terminal());
        CHECK(result.status() == 0);
        CHECK((result.out == bytes));
    }
    SECTION("to a pipe that does not block") {
        Argv argv{k_probe, "nonblock"};
        const auto rest = wrapped({"--watch", "--report", dir.file("report")}, {"cat", dir.file("in")});
        argv.insert(argv.end(), rest.begin(), rest.end());
        const auto result = run_program(argv, off_terminal());
        CHECK(result.status() == 0);
        CHECK((result.out == bytes));
    }
    SECTION("to a file") {
        const auto result = run_program(
            {"sh", "-c", shell_wrap(dir) + "cat " + dir.file("in") + " >" + dir.file("out")}, off_terminal());
        CHECK(result.status() == 0);
        CHECK((read_file(dir.file("out")) == bytes));
    }
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring(" output_error=0 saw=20000000+0+0 "));
}

TEST_CASE("output: the two streams stay apart where they were apart", "[process]") {
    const TempDir dir;
    const Argv command{"sh", "-c", "echo out; echo error >&2; exit 4"};
    const auto check = [&](const Argv& how, const std::string& saw) {
        auto options = how;
        options.insert(options.end(), {"--report", dir.file("report")});
        const auto result = run_program(wrapped(options, command), off_terminal());
        CHECK(result.status() == 4);
        CHECK(result.out == "out\n");
        CHECK(result.err == "error\n");
        CHECK_THAT(read_file(dir.file("report")), ContainsSubstring(" saw=" + saw + "+0 "));
    };
    check({}, "0+0");
    check({"--watch-out"}, "4+0");
    check({"--watch-err"}, "0+6");
    check({"--watch"}, "4+6");
}

TEST_CASE("output: streams that are one open file keep their order", "[process]") {
    const TempDir dir;
    const std::string command =
        "sh -c 'i=0; while [ $i -lt 300 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done'";
    std::string expected;
    for (int i = 0; i < 300; ++i)
        expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
    for (const std::string watch : {"--watch", "--watch-out", "--watch-err"}) {
        const auto wrap =
            k_probe + " wrap --no-terminal " + watch + " --report " + dir.file("report") + " -- ";
        CHECK(run_program({"sh", "-c", wrap + command + " 2>&1"}, off_terminal()).out == expected);
        CHECK_THAT(read_file(dir.file("report")),
                   ContainsSubstring(" saw=0+0+" + std::to_string(expected.size()) + " "));
        (void)run_program({"sh", "-c", wrap + command + " >" + dir.file("log") + " 2>&1"}, off_terminal());
        CHECK(read_file(dir.file("log")) == expected);
    }
}

TEST_CASE("output: a file opened twice is two files", "[process]") {
    const TempDir dir;
    const auto log = dir.file("log");
    // Each has its own position, so the longer one overwrites the shorter.
    const std::string command = "sh -c 'echo abcdef; echo x >&2' >" + log + " 2>" + log;
    (void)run_program({"sh", "-c", command}, off_terminal());
    const auto expected = read_file(log);
    (void)run_program({"sh", "-c", shell_wrap(dir) + command}, off_terminal());
    CHECK(read_file(log) == expected);
    CHECK(expected == "x\ncdef\n");
}

TEST_CASE("output: bytes pass as they come, not when a line or the command ends", "[process]") {
    auto options = off_terminal();
    options.input_from = Input::open;
    auto program = start_program(
        wrapped({"--watch"}, {"sh", "-c", "printf dot >&2; read x; echo $x; read x; echo $x"}), options);
    program.wait_for_err("dot");
    program.send("first\n");
    CHECK(program.read_line() == "first");
    program.send("second\n");
    CHECK(program.read_line() == "second");
    CHECK(program.wait().status() == 0);
}

TEST_CASE("output: a reader that goes away is a SIGPIPE for the command, not for us", "[process]") {
    const TempDir dir;
    const auto result =
        run_program({"sh", "-c", shell_wrap(dir) + "yes | head -n 1; echo done"}, off_terminal());
    CHECK(result.out == "y\ndone\n");
    CHECK_THAT(read_file(dir.file("report")),
               ContainsSubstring("end=signaled code=141 stop=0 output_error=0 "));
}

TEST_CASE("output: a reader that is gone is seen before anything is written", "[process]") {
    const TempDir dir;
    const auto result =
        run_program({"sh", "-c", shell_wrap(dir) + k_probe + " await-broken | true"}, off_terminal());
    CHECK(result.status() == 0);
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("code=8 "));
}

TEST_CASE("output: what cannot be written is told", "[process]") {
    const TempDir dir;
    const auto result = run_program({"sh", "-c", shell_wrap(dir) + "echo lost >/dev/full"}, off_terminal());
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring(" output_error=28 "));
    CHECK(result.status() == 0);
}

TEST_CASE("output: something left behind that holds the pipe does not hold the run", "[process]") {
    const TempDir dir;
    SECTION("silent") {
        const auto result = run_program(
            wrapped({"--watch"}, {"sh", "-c", "sleep 300 & echo $!; head -c 50000 /dev/zero; exit 3"}),
            off_terminal());
        CHECK(result.status() == 3);
        CHECK(result.out.size() == result.out.find('\n') + 1 + 50000);
        CHECK(kill(std::stoi(result.out), SIGKILL) == 0);
    }
    SECTION("writing on and on") {
        const auto result =
            run_program(wrapped({"--watch"}, {"sh", "-c", "while echo on; do :; done & echo $! >&2; exit 3"}),
                        off_terminal());
        CHECK(result.status() == 3);
        wait_until_gone(std::stoi(result.err));
    }
}

TEST_CASE("output: a command that closes its output runs on", "[process]") {
    const auto result = run_program(
        wrapped({"--watch"}, {"sh", "-c", "echo a; exec >&- 2>&-; sleep 0.05; exit 6"}), off_terminal());
    CHECK(result.status() == 6);
    CHECK(result.out == "a\n");
}

TEST_CASE("output: a stuck reader does not keep signals from the command, nor us from going", "[process]") {
    const TempDir dir;
    const auto fifo = dir.file("fifo");
    // The reader opens the pipe and never reads.
    const std::string script = "mkfifo " + fifo + "; sh -c 'echo $$; exec sleep 300' <" + fifo + " & " +
                               "exec " + shell_wrap(dir) + k_probe + " fill >" + fifo;
    auto program = start_program({"sh", "-c", script}, off_terminal());
    const pid_t reader = std::stoi(program.read_line());
    program.wait_for_err("filled");
    program.kill(SIGTERM);
    const auto result = program.wait();
    CHECK(result.status() == 128 + SIGTERM);
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=signaled code=143 stop=15 "));
    CHECK(kill(reader, SIGKILL) == 0);
}
