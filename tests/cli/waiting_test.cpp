// SPDX-License-Identifier: MIT
// A job that has to wait: how long, what it says, and how it ends.
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

json inspect(const Sandbox& sandbox, const char* key) {
    return json::parse(sandbox.run({"inspect", key, "--json"}).out);
}

// Takes the only start of the hour.
void use_up(const Sandbox& sandbox) {
    REQUIRE(sandbox.run({"run", "-k", "acme", "-r", "1/h", "--", "true"}).code == 0);
}

const Argv k_waiting = {"run", "-k", "acme",  "-r", "1/h", "-w", "forever", "--notice-after",
                        "0",   "--", "touch", "ran"};

// Starts a wait, ends it by a signal, checks how it ended; whether its place was given back, for which it has
// 100 ms, which a loaded machine may not give it.
bool gives_its_place_back(const Argv& words, int signal) {
    Sandbox sandbox;
    use_up(sandbox);
    Program program = sandbox.start(words);
    program.wait_for_err("waiting for acme");
    CHECK(inspect(sandbox, "acme")["waiting"] == 1);
    const auto sent = jobthrottle::BootClock::now();
    program.kill(signal);
    const ProgramResult result = program.wait();
    INFO(describe(result));
    CHECK(result.code == 128 + signal);
    CHECK(result.ended - sent < 10s);
    CHECK_FALSE(std::filesystem::exists(sandbox.file("ran")));
    return inspect(sandbox, "acme")["waiting"] == 0;
}

void check_gives_its_place_back(const Argv& words, int signal) {
    CHECK((gives_its_place_back(words, signal) || gives_its_place_back(words, signal) ||
           gives_its_place_back(words, signal)));
}

}  // namespace

TEST_CASE("waiting: a signal ends it with 128 + n, and the place is given back", "[cli]") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        check_gives_its_place_back(k_waiting, signal);
}

TEST_CASE("waiting: admit ends likewise", "[cli]") {
    check_gives_its_place_back({"admit", "acme", "-r", "1/h", "-w", "forever", "--notice-after", "0"},
                               SIGTERM);
}

TEST_CASE("waiting: a signal that is ignored from the start stays ignored", "[cli]") {
    Sandbox sandbox;
    use_up(sandbox);
    auto options = sandbox.options();
    options.ignored_signals = {SIGHUP};
    Program program = sandbox.start(k_waiting, options);
    program.wait_for_err("waiting for acme");
    program.kill(SIGHUP);
    program.kill(SIGUSR1);
    program.wait_for_err("\njobthrottle: waiting for acme");
    program.kill(SIGTERM);
    CHECK(program.wait().code == 143);
}

TEST_CASE("waiting: USR1 prints one status line, also when quiet", "[cli]") {
    Sandbox sandbox;
    use_up(sandbox);
    Argv words = k_waiting;
    words.insert(words.begin() + 1, "-v");
    Program program = sandbox.start(words);
    program.wait_for_err("waiting for acme");
    program.kill(SIGTERM);
    (void)program.wait();

    words[1] = "-q";
    Program quiet = sandbox.start(words);
    const auto until = jobthrottle::BootClock::now() + 20s;
    while (inspect(sandbox, "acme")["waiting"] != 1)
        REQUIRE(jobthrottle::BootClock::now() < until);
    quiet.kill(SIGUSR1);
    quiet.wait_for_err("waiting for acme");
    quiet.kill(SIGTERM);
    const ProgramResult result = quiet.wait();
    INFO(describe(result));
    CHECK(result.err.find('\n') == result.err.size() - 1);
}

TEST_CASE("waiting: off a terminal a line ends in what a program can read", "[cli]") {
    Sandbox sandbox;
    use_up(sandbox);
    Program program = sandbox.start(k_waiting);
    program.wait_for_err("\n");
    program.kill(SIGTERM);
    const std::string err = program.wait().err;
    CHECK_THAT(err, Catch::Matchers::StartsWith("jobthrottle: waiting for acme"));
    CHECK_THAT(err, ContainsSubstring("  key=acme why=rate ahead=0 eta_ms="));
}

TEST_CASE("waiting: what would take longer than --max-wait ends at once with 75", "[cli]") {
    Sandbox sandbox;
    use_up(sandbox);
    for (const Argv& bound :
         std::initializer_list<Argv>{{"-w", "10m"}, {"-n"}, {"-w", "0"}, {"--max-wait=10m", "-q"}}) {
        Argv words = {"run", "-k", "acme", "-r", "1/h"};
        words.insert(words.end(), bound.begin(), bound.end());
        words.insert(words.end(), {"--", "touch", "ran"});
        const ProgramResult result = sandbox.run(words);
        INFO(describe(result));
        CHECK(result.code == 75);
        CHECK(result.out.empty());
        CHECK_THAT(result.err, ContainsSubstring("acme"));
        CHECK_THAT(result.err, ContainsSubstring("1/h"));
        CHECK_THAT(result.err, ContainsSubstring("wait_s=3"));
        CHECK_FALSE(std::filesystem::exists(sandbox.file("ran")));
    }
    CHECK(inspect(sandbox, "acme")["waiting"] == 0);
    CHECK(sandbox.run({"run", "-k", "acme", "-r", "1/h", "-n", "-E", "0", "--", "touch", "ran"}).code == 0);
    CHECK_FALSE(std::filesystem::exists(sandbox.file("ran")));
    auto options = sandbox.options();
    options.env["JOBTHROTTLE_MAX_WAIT"] = "10m";
    CHECK(sandbox.run({"run", "-k", "acme", "-r", "1/h", "--", "touch", "ran"}, options).code == 75);
}

TEST_CASE("waiting: a pause by hand is waited for until --max-wait, and says by whom", "[cli]") {
    Sandbox sandbox;
    REQUIRE(sandbox.run({"pause", "acme", "1h", "--reason", "moving house"}).code == 0);
    const ProgramResult result =
        sandbox.run({"run", "-k", "acme", "-r", "5/s", "-w", "0.3", "--", "touch", "ran"});
    INFO(describe(result));
    CHECK(result.code == 75);
    CHECK(result.elapsed() >= 300ms);
    CHECK_THAT(result.err, ContainsSubstring("moving house"));
    CHECK_THAT(result.err, ContainsSubstring("--max-wait"));
    CHECK_FALSE(std::filesystem::exists(sandbox.file("ran")));
}

TEST_CASE("waiting: what is behind a pause is said once", "[cli]") {
    Sandbox sandbox;
    REQUIRE(sandbox.run({"pause", "acme", "1h", "--reason", "moving house"}).code == 0);
    Argv words = k_waiting;
    words[4] = "5/s";
    Program program = sandbox.start(words);
    program.wait_for_err("\njobthrottle: waiting for acme");
    program.kill(SIGTERM);
    const std::string err = program.wait().err;
    INFO(err);
    const auto first = err.find("moving house");
    CHECK(first < err.find('\n'));
    CHECK(err.find("moving house", first + 1) == std::string::npos);
    const auto second = err.find("waiting for acme: paused by hand until", err.find('\n'));
    CHECK(second != std::string::npos);
}

TEST_CASE("waiting: -v tells every question, the start and the end", "[cli]") {
    Sandbox sandbox;
    const ProgramResult first =
        sandbox.run({"run", "-v", "-k", "acme", "-r", "1/h", "--", "sh", "-c", "exit 3"});
    INFO(describe(first));
    CHECK(first.code == 3);
    CHECK_THAT(first.err, ContainsSubstring("for acme: may start now"));
    CHECK_THAT(first.err, ContainsSubstring("attempt 1: starting sh"));
    CHECK_THAT(first.err, ContainsSubstring("attempt 1: the command exited with 3"));
    const ProgramResult second = sandbox.run({"run", "-vn", "-k", "acme", "-r", "1/h", "--", "true"});
    INFO(describe(second));
    CHECK_THAT(second.err, ContainsSubstring("for acme: has to wait, may start in "));
    const ProgramResult replaced = sandbox.run(
        {"run", "-v", "-k", "other", "-r", "1/s", "--scan", "none", "--rerun", "never", "--", "true"});
    INFO(describe(replaced));
    CHECK_THAT(replaced.err, ContainsSubstring("attempt 1: starting true"));
}

TEST_CASE("waiting: starts are spaced by the rate", "[cli]") {
    Sandbox sandbox;
    const std::string three = "for i in 1 2 3; do \"$1\" run -k acme -r 5/s -- true || exit 1; done";
    const ProgramResult result = run_program({"sh", "-c", three, "sh", program_path()}, sandbox.options());
    CHECK(result.code == 0);
    CHECK(result.elapsed() >= 400ms);
    CHECK(result.err.empty());
}
