// SPDX-License-Identifier: MIT
// `run` where people put it: in loops and pipes, under xargs, make, nohup, timeout, and in containers.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "crowd.hpp"
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

// Ended, whether or not anybody has asked how.
bool is_gone(const std::string& pid) {
    std::ifstream file("/proc/" + pid + "/cmdline");
    return file.peek() == std::ifstream::traits_type::eof();
}

void check_gone(const std::string& pid) {
    INFO("process " << pid);
    const BootTime until = BootClock::now() + 20s;
    while (!is_gone(pid) && BootClock::now() < until)
        sleep_for(10ms);
    CHECK(is_gone(pid));
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

Argv as_process_1(const Argv& command) {
    Argv argv = {"unshare", "-fp", "--kill-child"};
    if (geteuid() != 0) argv.insert(argv.end(), {"--user", "--map-root-user"});
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

// The only child of a process.
pid_t child_of(pid_t parent) {
    const ProgramResult result = run_program({"pgrep", "-P", std::to_string(parent)});
    const auto pid = parse_whole_number(first_line(result.out));
    return pid ? static_cast<pid_t>(*pid) : -1;
}

}  // namespace

TEST_CASE("shell: xargs -P8", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result = site.shell(
        "seq 0 15 | xargs -P8 -I NAME \"$JT\" run -k x -r 20/s -- "
        "sh -c 'read -r up rest </proc/uptime; echo \"$0 $up\" >>starts' NAME");
    INFO(describe(result));
    CHECK(result.status() == 0);
    CHECK(result.err.empty());
    const std::vector<Site::Start> starts = site.starts();
    CHECK(sorted_names(starts) == names_up_to(16));
    check_paced(times_of(starts), 20, site.standstill().longest());
}

TEST_CASE("shell: xargs sees that a job failed", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result =
        site.shell("seq 4 | xargs -P4 -I N \"$JT\" run -k x -r 100/s -- sh -c 'test $0 != 3' N");
    INFO(describe(result));
    CHECK(result.status() == 123);
}

TEST_CASE("shell: a while-read loop keeps its input", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result = site.shell(
        "seq 0 9 >ids; while read -r id; do \"$JT\" run -k w -r 50/s -- echo \"$id\" || exit; done <ids; "
        "seq 10 12 | while read -r id; do \"$JT\" run -k w -r 50/s -- echo \"$id\" || exit; done");
    INFO(describe(result));
    CHECK(result.status() == 0);
    CHECK(result.out == "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    CHECK(result.err.empty());
}

TEST_CASE("shell: make -j hands its job server through", "[e2e]") {
    const Site site(Where::local);
    write_file(site.file("Makefile"),
               "all: a b c d e f\n"
               "a b c d e f:\n"
               "\t+@\"$$JT\" run -k m -r 50/s -- $(MAKE) -s -f sub.mk NAME=$@\n");
    // A make that does not reach the server says so on standard error.
    write_file(site.file("sub.mk"),
               "all: one two\n"
               "one two:\n"
               "\t@echo made $(NAME) $@\n");
    const ProgramResult result = site.shell("make -s -j4 --no-print-directory");
    INFO(describe(result));
    CHECK(result.status() == 0);
    CHECK(result.err.empty());
    std::vector<std::string> made;
    for (const std::string_view line : split(result.out, '\n'))
        made.emplace_back(line);
    CHECK(std::count_if(made.begin(), made.end(),
                        [](const std::string& line) { return line.rfind("made ", 0) == 0; }) == 12);
}

TEST_CASE("shell: nohup holds while it waits and while it runs", "[e2e]") {
    const Site site(Where::local);
    REQUIRE(site.run({"pause", "n", "1h"}).code == 0);
    ProgramOptions options = site.options();
    options.input_from = Input::open;
    Argv argv = {"nohup"};
    for (const std::string& word : site.command({"run", "-k", "n", "-r", "5/s", "--", "sh", "-c",
                                                 "kill -HUP $$; echo ready; read -r x; echo got \"$x\""}))
        argv.push_back(word);
    Program program(argv, options);
    const BootTime until = BootClock::now() + 30s;
    while (site.inspect("n", "waiting") != 1 && BootClock::now() < until)
        sleep_for(10ms);
    program.kill(SIGHUP);
    REQUIRE(site.run({"resume", "n"}).code == 0);
    CHECK(program.read_line() == "ready");
    program.kill(SIGHUP);
    program.send("go\n");
    const ProgramResult result = program.wait();
    INFO(describe(result));
    CHECK(result.status() == 0);
    CHECK(result.out == "ready\ngot go\n");
}

TEST_CASE("shell: a reader that goes away ends the command", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result =
        site.shell("\"$JT\" run -k p -r 5/s -- yes | head -1; echo \"${PIPESTATUS[*]}\"");
    INFO(describe(result));
    CHECK(result.out == "y\n141 0\n");
}

TEST_CASE("shell: what is closed stays closed", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult two = site.shell(
        "\"$JT\" run -k c -r 50/s -- sh -c 'for fd in 0 1; do "
        "if [ -e /proc/$$/fd/$fd ]; then echo $fd is open >&2; fi; done; echo ran >&2' <&- >&-");
    INFO(describe(two));
    CHECK(two.status() == 0);
    CHECK(two.err == "ran\n");

    const ProgramResult three =
        site.shell("\"$JT\" run -k c -r 50/s -- sh -c 'echo ran >all_closed; exit 9' <&- >&- 2>&-");
    CHECK(three.status() == 9);
    CHECK(read_file(site.file("all_closed")) == "ran\n");
}

TEST_CASE("shell: as process 1 of a container it ends as its command does", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result = run_program(
        as_process_1(site.command({"run", "-k", "c", "-r", "5/s", "--", "sh", "-c", "echo $PPID; exit 7"})),
        site.options());
    INFO(describe(result));
    CHECK(result.status() == 7);
    CHECK(result.out == "1\n");
}

TEST_CASE("shell: as process 1 of a container it can be told to go while it waits", "[e2e]") {
    const Site site(Where::local);
    REQUIRE(site.run({"run", "-k", "c", "-r", "1/h", "--", "true"}).code == 0);
    Crowd crowd;
    crowd.add(
        Program(as_process_1(site.command({"run", "-k", "c", "-r", "1/h", "-w", "forever", "--", "true"})),
                site.options()));
    crowd.watch_until([&] { return site.inspect("c", "waiting") == 1; });
    const pid_t wrapper = child_of(crowd.at(0).pid());
    REQUIRE(wrapper > 0);
    REQUIRE(kill(wrapper, SIGTERM) == 0);
    const std::vector<ProgramResult> results = crowd.finish();
    INFO(describe(results.front()));
    CHECK(results.front().status() == 128 + SIGTERM);
    CHECK(site.inspect("c", "waiting") == 0);
}

TEST_CASE("shell: setsid", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result = site.shell("setsid -w \"$JT\" run -k s -r 5/s -- sh -c 'echo here; exit 5'");
    INFO(describe(result));
    CHECK(result.status() == 5);
    CHECK(result.out == "here\n");
}

TEST_CASE("shell: timeout ends the wrapper and the command", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result =
        site.shell("timeout 2 \"$JT\" run -k t -r 5/s -- sh -c 'echo $$ >pid; exec sleep 100'; echo $?");
    INFO(describe(result));
    CHECK(result.out == "124\n");
    REQUIRE(std::filesystem::exists(site.file("pid")));
    check_gone(first_line(read_file(site.file("pid"))));
}

TEST_CASE("shell: timeout ends one that waits, and its place is free", "[e2e]") {
    const Site site(Where::local);
    const ProgramResult result = site.shell(
        "\"$JT\" run -k t -r 1/h -- true; timeout 1 \"$JT\" run -k t -r 1/h -w forever -- touch ran; echo "
        "$?");
    INFO(describe(result));
    CHECK(result.out == "124\n");
    CHECK_FALSE(std::filesystem::exists(site.file("ran")));
    CHECK(site.inspect("t", "waiting") == 0);
}
