// SPDX-License-Identifier: MIT
// Signals to a command away from a terminal, what becomes of it when we die, and process 1.
#include <csignal>

#include "probe.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

namespace {

pid_t pid_in(const std::string& line) {
    return std::stoi(line.substr(line.find(' ') + 1));
}

std::string got(int signal) {
    return "got " + std::to_string(signal);
}

}  // namespace

TEST_CASE("signals: each reaches the command once", "[process]") {
    const TempDir dir;
    for (const Argv& how : {Argv{}, Argv{"--watch"}}) {
        auto options = how;
        options.insert(options.end(), {"--report", dir.file("report")});
        auto program = start_program(wrapped(options, {k_probe, "count"}), off_terminal());
        CHECK(pid_in(program.read_line()) != program.pid());
        // A second delivery would stand between two of these lines.
        for (int round = 0; round < 5; ++round) {
            for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGWINCH, SIGCONT, SIGTSTP,
                                     SIGALRM, SIGABRT, SIGRTMIN + 3}) {
                program.kill(signal);
                CHECK(program.read_line() == got(signal));
                // To our whole group, of which the command is none.
                kill(-program.pid(), signal);
                CHECK(program.read_line() == got(signal));
            }
        }
        program.kill(SIGUSR2);
        CHECK(program.read_line() == got(SIGUSR2));
        CHECK(program.wait().status() == 0);
        CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=exited code=0 stop=2 "));
    }
}

TEST_CASE("signals: they reach all of the command's group", "[process]") {
    auto program = start_program(
        wrapped({}, {"sh", "-c", "sh -c 'echo ready $$; exec sleep 300'; echo not reached"}), off_terminal());
    const pid_t below = pid_in(program.read_line());
    program.kill(SIGTERM);
    const auto result = program.wait();
    CHECK(result.status() == 128 + SIGTERM);
    CHECK_THAT(result.out, !ContainsSubstring("not reached"));
    wait_until_gone(below);
}

TEST_CASE("signals: one that was ignored at the start stays ignored", "[process]") {
    const TempDir dir;
    auto options = off_terminal();
    options.ignored_signals = {SIGHUP, SIGINT};
    auto program = start_program(wrapped({"--report", dir.file("report")}, {k_probe, "count"}), options);
    (void)program.read_line();
    program.kill(SIGHUP);
    program.kill(SIGINT);
    program.kill(SIGTERM);
    CHECK(program.read_line() == got(SIGTERM));
    program.kill(SIGUSR2);
    CHECK(program.wait().status() == 0);
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("stop=15 "));
}

TEST_CASE("signals: a command that TSTP stops stops us, and CONT continues both", "[process]") {
    const TempDir dir;
    auto program =
        start_program(wrapped({"--report", dir.file("report")}, {k_probe, "stop-and-go"}), off_terminal());
    const pid_t command = pid_in(program.read_line());
    program.kill(SIGTSTP);
    int status = 0;
    REQUIRE(waitpid(program.pid(), &status, WUNTRACED) == program.pid());
    REQUIRE(WIFSTOPPED(status));
    CHECK(state_of(command) == 'T');
    program.kill(SIGCONT);
    CHECK(program.read_line() == "continued");
    CHECK(program.wait().status() == 5);
}

TEST_CASE("signals: stopping only the command is not our affair", "[process]") {
    auto program = start_program(wrapped({}, {k_probe, "count"}), off_terminal());
    const pid_t command = pid_in(program.read_line());
    REQUIRE(kill(command, SIGSTOP) == 0);
    while (state_of(command) != 'T')
        poll(nullptr, 0, 1);
    // Had we stopped too, nothing would pass this on.
    program.kill(SIGTERM);
    const auto has_term = [&] {
        const auto status = read_file("/proc/" + std::to_string(command) + "/status");
        return status.find("ShdPnd:\t0000000000004000\n") != std::string::npos;
    };
    for (int i = 0; i < 20000 && !has_term(); ++i)
        poll(nullptr, 0, 1);
    REQUIRE(has_term());
    REQUIRE(kill(command, SIGCONT) == 0);
    CHECK(program.read_line() == got(SIGTERM));
    CHECK(program.read_line() == got(SIGCONT));
    program.kill(SIGUSR2);
    CHECK(program.wait().status() == 0);
}

TEST_CASE("signals: when we are killed the command gets TERM, where that is wanted", "[process]") {
    for (const Argv& how : {Argv{"--dies-with-us"}, Argv{"--dies-with-us", "--watch"}}) {
        auto program =
            start_program(wrapped(how, {"sh", "-c", "echo ready $$; exec sleep 300"}), off_terminal());
        const pid_t command = pid_in(program.read_line());
        program.kill(SIGKILL);
        CHECK(program.wait().signal == SIGKILL);
        wait_until_gone(command);
    }
}

TEST_CASE("signals: when we are killed the command hears nothing, where that is not wanted", "[process]") {
    const TempDir dir;
    write_file(dir.file("out"), "");
    auto program = start_program(
        wrapped({}, {"sh", "-c", "exec " + k_probe + " count >> " + dir.file("out")}), off_terminal());
    const auto wait_for = [&](const std::string& line) {
        for (int i = 0; i < 20000 && read_file(dir.file("out")).find(line) == std::string::npos; ++i)
            poll(nullptr, 0, 1);
        return read_file(dir.file("out"));
    };
    const pid_t command = pid_in(wait_for("\n"));
    program.kill(SIGKILL);
    CHECK(program.wait().signal == SIGKILL);
    // Of several that are pending it takes the lowest first, and TERM would be one.
    REQUIRE(kill(command, SIGRTMIN) == 0);
    const auto seen = wait_for(got(SIGRTMIN) + "\n");
    CHECK_THAT(seen, ContainsSubstring(got(SIGRTMIN)));
    CHECK_THAT(seen, !ContainsSubstring(got(SIGTERM)));
    REQUIRE(kill(command, SIGUSR2) == 0);
    wait_until_gone(command);
}

TEST_CASE("signals: what comes before the command runs is not lost", "[process]") {
    const TempDir dir;
    // The signal is pending before the exec of the wrapper, which inherits it so.
    auto program = start_program({k_probe, "pending", std::to_string(SIGUSR1), k_probe, "wrap",
                                  "--no-terminal", "--", k_probe, "count"},
                                 off_terminal());
    (void)program.read_line();
    CHECK(program.read_line() == got(SIGUSR1));
    program.kill(SIGUSR2);
    CHECK(program.wait().status() == 0);
}

TEST_CASE("process 1: it forwards, reaps and ends as the command does", "[process]") {
    const TempDir dir;
    const auto in_namespace = [&](const Argv& command) {
        Argv argv{"unshare", "--pid", "--fork"};
        if (geteuid() != 0) argv.insert(argv.begin() + 1, {"--user", "--map-root-user"});
        const auto rest = wrapped({"--watch", "--report", dir.file("report")}, command);
        argv.insert(argv.end(), rest.begin(), rest.end());
        return run_program(argv, off_terminal());
    };
    const auto orphan = in_namespace({k_probe, "orphan"});
    INFO(describe(orphan));
    CHECK(orphan.status() == 7);
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring(" pid=1 "));

    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
        const auto number = std::to_string(signal);
        const auto result = in_namespace(
            {"sh", "-c",
             "trap 'echo got; exit 9' " + number + "; kill -" + number + " 1; while :; do sleep 0.01; done"});
        INFO(number << describe(result));
        CHECK(result.status() == 9);
        CHECK(result.out == "got\n");
    }
    CHECK(in_namespace({"sh", "-c", "kill -KILL $$"}).status() == 128 + SIGKILL);
}
