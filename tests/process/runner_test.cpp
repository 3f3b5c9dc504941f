// SPDX-License-Identifier: MIT
// What a command is given, and how its end is told: as if nobody stood between.
#include <sys/stat.h>

#include "probe.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("runner: a command's end is told as it was", "[process]") {
    const TempDir dir;
    const auto report = dir.file("report");
    const auto run = [&](const Argv& command) {
        const auto result = run_program(wrapped({"--report", report}, command), off_terminal());
        CHECK(result.err.empty());
        return result.status();
    };
    for (const int code : {0, 1, 3, 75, 127, 255}) {
        CHECK(run({"sh", "-c", "exit " + std::to_string(code)}) == code);
        CHECK_THAT(read_file(report),
                   ContainsSubstring("end=exited code=" + std::to_string(code) + " stop=0 "));
    }
    for (const int signal : {SIGTERM, SIGKILL, SIGINT, SIGPIPE}) {
        CHECK(run({"sh", "-c", "kill -" + std::to_string(signal) + " $$"}) == 128 + signal);
        CHECK_THAT(read_file(report),
                   ContainsSubstring("end=signaled code=" + std::to_string(128 + signal) + " stop=0 "));
    }
}

TEST_CASE("runner: a command that cannot be started is told from one that failed", "[process]") {
    const TempDir dir;
    const auto report = dir.file("report");
    const auto plain = dir.file("plain");
    write_file(plain, "echo from a script without its first line\n");
    const auto end_of = [&](const Argv& command) {
        (void)run_program(wrapped({"--report", report}, command), off_terminal());
        const auto text = read_file(report);
        return text.substr(0, text.find(' '));
    };
    CHECK(end_of({"no-such-command-anywhere"}) == "end=not-found");
    CHECK(end_of({"/no/such/command"}) == "end=not-found");
    CHECK(end_of({""}) == "end=not-found");
    CHECK(end_of({dir.path()}) == "end=not-executable");
    CHECK(end_of({plain}) == "end=not-executable");
    CHECK(end_of({plain + "/below"}) == "end=not-executable");
    CHECK_THAT(read_file(report), ContainsSubstring("descriptors=kept children=none"));

    REQUIRE(chmod(plain.c_str(), 0755) == 0);
    const auto script = run_program(wrapped({}, {plain}), off_terminal());
    CHECK(script.status() == 0);
    CHECK(script.out == "from a script without its first line\n");
}

TEST_CASE("runner: the first of its name in PATH that can be executed runs", "[process]") {
    const TempDir dir;
    for (const char* folder : {"a", "b"})
        REQUIRE(mkdir(dir.file(folder).c_str(), 0755) == 0);
    write_file(dir.file("a/tool"), "not executable");
    write_file(dir.file("b/tool"), "#!/bin/sh\necho b\n");
    REQUIRE(chmod(dir.file("b/tool").c_str(), 0755) == 0);
    auto options = off_terminal();
    options.env["PATH"] = dir.file("a") + ":" + dir.file("b");
    CHECK(run_program(wrapped({}, {"tool"}), options).out == "b\n");
    options.env["PATH"] = dir.file("a");
    CHECK(run_program(wrapped({}, {"tool"}), options).status() == 126);
}

TEST_CASE("runner: arguments arrive byte for byte", "[process]") {
    const Argv arguments{"",   "[a,b]", "two words", "line\nline", "--", "--json", "$HOME `x` \"'",
                         "\\", "*",     "\xff\x01",  "-"};
    Argv command{k_probe, "arguments"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::string expected;
    for (const auto& argument : arguments)
        expected += argument + '\0';
    CHECK(run_program(wrapped({}, command), off_terminal()).out == expected);
    CHECK(run_program(wrapped({"--watch"}, command), off_terminal()).out == expected);
}

TEST_CASE("runner: many arguments do not overrun the stack of the start", "[process]") {
    const TempDir dir;
    write_file(dir.file("script"), "echo $#\n");
    REQUIRE(chmod(dir.file("script").c_str(), 0755) == 0);
    Argv command{dir.file("script")};
    command.insert(command.end(), 100000, "x");
    CHECK(run_program(wrapped({}, command), off_terminal()).out == "100000\n");
}

TEST_CASE("runner: the environment is ours and what is added", "[process]") {
    const Argv list{"sh", "-c", "env | sort"};
    auto options = off_terminal();
    options.env = {{"KEPT", "a=b"}, {"CHANGED", "new=er"}, {"ADDED", ""}};
    const auto expected = run_program(list, options).out;
    options.env = {{"KEPT", "a=b"}, {"CHANGED", "old"}};
    const auto seen = run_program(wrapped({"--env", "CHANGED=new=er", "--env", "ADDED="}, list), options).out;
    CHECK(seen == expected);
    // Between them may stand what a sanitizer's own environment holds.
    CHECK_THAT(seen, ContainsSubstring("ADDED=\n"));
    CHECK_THAT(seen, ContainsSubstring("\nCHANGED=new=er\n"));
}

TEST_CASE("runner: standard input is left to the command", "[process]") {
    auto options = off_terminal();
    options.input_from = Input::pipe;
    options.input = "1\n2\n3\n";
    const std::string wrap = k_probe + " wrap --no-terminal --watch -- ";
    CHECK(
        run_program({"sh", "-c", "while read x; do sh -c '" + wrap + "true'; echo $x; done"}, options).out ==
        "1\n2\n3\n");
    CHECK(run_program(wrapped({"--watch"}, {"cat"}), options).out == "1\n2\n3\n");
}

TEST_CASE("runner: descriptors that were given reach the command, ours do not", "[process]") {
    const TempDir dir;
    const auto list = dir.file("list");
    const std::string wrap = " wrap --no-terminal --report " + dir.file("report");
    const std::string give = " 4</dev/null 7</dev/null";
    for (const std::string watch : {"", " --watch"}) {
        const auto result = run_program({"sh", "-c",
                                         k_probe + wrap + watch + " --times 20 -- " + k_probe +
                                             " descriptors " + list + give + "; exit $?"},
                                        off_terminal());
        INFO(describe(result));
        CHECK(result.status() == 0);
        CHECK(read_file(list) == "0,1,2,4,7");
        CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("descriptors=kept children=none"));
    }
}

TEST_CASE("runner: closed standard descriptors stay closed and are not taken", "[process]") {
    const TempDir dir;
    const auto list = dir.file("list");
    const struct {
        const char* closing;
        const char* left;
    } cases[] = {{"<&-", "1,2"}, {">&-", "0,2"}, {"2>&-", "0,1"}, {"<&- >&- 2>&-", ""}};
    for (const auto& [closing, left] : cases) {
        const auto result =
            run_program({"sh", "-c",
                         k_probe + " wrap --no-terminal --watch --report " + dir.file("report") + " -- " +
                             k_probe + " descriptors " + list + " " + closing + "; exit $?"},
                        off_terminal());
        INFO(closing << describe(result));
        CHECK(result.status() == 0);
        CHECK(read_file(list) == left);
        CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=exited"));
    }
}

TEST_CASE("runner: ignored and blocked signals are the command's as they were", "[process]") {
    const Argv look{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
    Argv blocked{k_probe, "blocked"};
    const std::vector<std::vector<int>> all_ignored = {
        {}, {SIGHUP}, {SIGINT, SIGQUIT}, {SIGPIPE}, {SIGCHLD}, {SIGTERM, SIGUSR1, SIGTSTP, SIGWINCH}};
    for (const auto& ignored : all_ignored) {
        auto options = off_terminal();
        options.ignored_signals = ignored;
        Argv without = blocked;
        without.insert(without.end(), look.begin(), look.end());
        const auto expected = run_program(without, options).out;
        for (const Argv& how : {Argv{}, Argv{"--watch"}, Argv{"--replace"}}) {
            Argv with = blocked;
            const auto rest = wrapped(how, look);
            with.insert(with.end(), rest.begin(), rest.end());
            const auto seen = run_program(with, options);
            CHECK(seen.status() == 0);
            CHECK(seen.out == expected);
        }
        CHECK_THAT(expected, ContainsSubstring("SigBlk:\t0000000000000202"));
    }
}

TEST_CASE("runner: replacing the process keeps its number, and failing says why", "[process]") {
    auto program = start_program(wrapped({"--replace", "--env", "ADDED=x"}, {"sh", "-c", "echo $$ $ADDED"}),
                                 off_terminal());
    CHECK(program.read_line() == std::to_string(program.pid()) + " x");
    CHECK(program.wait().status() == 0);
    CHECK(run_program(wrapped({"--replace"}, {"no-such-command-anywhere"}), off_terminal()).status() == 127);
    CHECK(run_program(wrapped({"--replace"}, {"/"}), off_terminal()).status() == 126);
}
