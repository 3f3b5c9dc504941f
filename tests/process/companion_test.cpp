// SPDX-License-Identifier: MIT
// One who is asked while a command runs, and can have it ended.
#include <csignal>

#include "probe.hpp"
#include "support/catch.hpp"
#include "support/pty.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

namespace {

// Acts once `file` is there.
Argv accompanied(const std::string& file, const Argv& acts, const Argv& command) {
    Argv options{"--accompanied", "--act-after", file};
    for (const auto& act : acts)
        options.insert(options.end(), {"--act", act});
    return wrapped(options, command);
}

pid_t pid_in(const std::string& line) {
    return std::stoi(line.substr(line.rfind(' ') + 1));
}

std::size_t count_of(const std::string& what, const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

}  // namespace

TEST_CASE("companion: is told of the command's process, and of each run anew", "[process]") {
    const auto once = run_program(accompanied("/", {}, {"sh", "-c", "echo $$"}), off_terminal());
    CHECK(once.status() == 0);
    CHECK(once.err == "started " + once.out);
    auto argv = accompanied("/", {}, {"true"});
    argv.insert(argv.begin() + 3, {"--times", "3"});
    CHECK(count_of("started ", run_program(argv, off_terminal()).err) == 3);
}

TEST_CASE("companion: hears nothing of a command that cannot be run", "[process]") {
    const auto result = run_program(accompanied("/", {"0:0"}, {"no-such-command-anywhere"}), off_terminal());
    CHECK(result.status() == 127);
    CHECK(result.err.empty());
}

TEST_CASE("companion: acts when it is due, without a signal as well", "[process]") {
    const TempDir dir;
    auto program = start_program(
        accompanied(dir.file("go"), {"0:0", "1:0", "20:0", "1:10"}, {k_probe, "count"}), off_terminal());
    (void)program.read_line();
    write_file(dir.file("go"), "");
    CHECK(program.read_line() == "got 10");
    program.kill(SIGUSR2);
    const auto result = program.wait();
    CHECK(result.status() == 0);
    CHECK_THAT(result.err, ContainsSubstring("act 0\nact 0\nact 0\nact 10\n"));
}

TEST_CASE("companion: acts while output flows without a pause", "[process]") {
    const auto wrap = k_probe + " wrap --no-terminal --watch-out --accompanied --act 100:15 -- yes";
    const auto result = run_program({"sh", "-c", wrap + " > /dev/null; exit $?"}, off_terminal());
    CHECK(result.status() == 128 + SIGTERM);
}

TEST_CASE("companion: its signal reaches all of the command's group", "[process]") {
    const TempDir dir;
    const Argv command{"sh", "-c",
                       "trap : TERM; sh -c 'trap \"echo got; exit 0\" TERM; echo ready; "
                       "while :; do sleep 0.05; done'; exit 3"};
    auto program = start_program(accompanied(dir.file("go"), {"0:15"}, command), off_terminal());
    CHECK(program.read_line() == "ready");
    write_file(dir.file("go"), "");
    CHECK(program.read_line() == "got");
    CHECK(program.wait().status() == 3);
}

TEST_CASE("companion: nothing of the command's group outlives it when it was ended", "[process]") {
    const TempDir dir;
    // The one below does not care for TERM, and the command itself ends by it.
    const Argv command{"sh", "-c",
                       "sh -c 'trap \"\" TERM; echo ready $$; while :; do sleep 0.05; done' & wait"};
    auto program = start_program(accompanied(dir.file("go"), {"0:15"}, command), off_terminal());
    const pid_t below = pid_in(program.read_line());
    write_file(dir.file("go"), "");
    CHECK(program.wait().status() == 128 + SIGTERM);
    wait_until_gone(below);
}

TEST_CASE("companion: KILL ends what TERM does not, also a command that is stopped", "[process]") {
    const TempDir dir;
    auto program =
        start_program(accompanied(dir.file("go"), {"0:15", "10:9"}, {k_probe, "count"}), off_terminal());
    const pid_t command = pid_in(program.read_line());
    REQUIRE(kill(command, SIGSTOP) == 0);
    write_file(dir.file("go"), "");
    const auto result = program.wait();
    CHECK(result.status() == 128 + SIGKILL);
    CHECK_THAT(result.err, ContainsSubstring("act 15\nact 9\n"));
}

TEST_CASE("companion: goes on while the command alone is stopped", "[process]") {
    const TempDir dir;
    auto program =
        start_program(accompanied(dir.file("go"), {"0:0", "1:0", "1:0"}, {k_probe, "count"}), off_terminal());
    const pid_t command = pid_in(program.read_line());
    REQUIRE(kill(command, SIGSTOP) == 0);
    while (state_of(command) != 'T')
        poll(nullptr, 0, 1);
    write_file(dir.file("go"), "");
    program.wait_for_err("act 0\nact 0\nact 0\n");
    CHECK(state_of(command) == 'T');
    REQUIRE(kill(command, SIGCONT) == 0);
    program.kill(SIGUSR2);
    CHECK(program.wait().status() == 0);
}

namespace {

Argv at_terminal(const TempDir& dir, const Argv& command) {
    Argv argv{k_probe, "wrap", "--accompanied", "--act-after",      dir.file("go"),
              "--act", "0:15", "--report",      dir.file("report"), "--"};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

// Past what the companion says on the same terminal.
std::string next_line(Pty& terminal, const std::string& start) {
    std::string line = terminal.read_line();
    while (line.rfind(start, 0) != 0)
        line = terminal.read_line();
    return line;
}

}  // namespace

TEST_CASE("companion: at a terminal its signal is for the command alone", "[process]") {
    const TempDir dir;
    Pty terminal(at_terminal(dir, {k_probe, "count"}));
    const pid_t command = pid_in(next_line(terminal, "ready "));
    write_file(dir.file("go"), "");
    CHECK(next_line(terminal, "got ") == "got 15");
    kill(command, SIGUSR2);
    // A second TERM would stand before it.
    CHECK(next_line(terminal, "got ") == "got 12");
    CHECK(terminal.wait() == 0);
    // It did not reach us, who share the group.
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=exited code=0 stop=0 "));
}

TEST_CASE("companion: at a terminal it reaches the whole group of a command that leads one", "[process]") {
    const TempDir dir;
    Pty terminal(at_terminal(
        dir, {k_probe, "leave", "sh", "-c", "sh -c 'echo ready $$; exec sleep 300'; echo not reached"}));
    const pid_t below = pid_in(next_line(terminal, "ready "));
    write_file(dir.file("go"), "");
    CHECK(terminal.wait() == 128 + SIGTERM);
    wait_until_gone(below);
}
