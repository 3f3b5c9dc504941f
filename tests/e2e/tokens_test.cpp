// SPDX-License-Identifier: MIT
// Places that scripts take by themselves: admit, renew, release, --follow; and the habits of flock.
#include <filesystem>

#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

// `"$@"` is a probe.
const char* const k_script =
    "tok=$(\"$JT\" admit db -j 2) || exit\n"
    "trap '\"$JT\" release db \"$tok\"' EXIT\n"
    "\"$@\"\n";

Argv as_script(const Argv& command) {
    Argv argv = {"bash", "-c", k_script, "script"};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

void check_scripts(Where where) {
    const Site site(where);
    ProbeLog log(site.sandbox().path());
    Crowd crowd;
    for (int i = 0; i < 8; ++i)
        crowd.add(Program(as_script(log.command({std::to_string(i), 50ms, 2})), site.options()));
    for (const ProgramResult& result : crowd.finish()) {
        INFO(describe(result));
        CHECK(result.code == 0);
        CHECK(result.err.empty());
    }
    CHECK(log.read().size() == 8);
    CHECK(log.count_over() == 0);
    CHECK(site.inspect("db", "places") <= 0);
}

void check_token(Where where) {
    const Site site(where);
    const ProgramResult result = site.shell(
        "tok=$(\"$JT\" admit db -j 1 --lock-for 1s); echo \"${#tok}\"\n"
        "\"$JT\" renew db \"$tok\"; echo \"renewed $?\"\n"
        "\"$JT\" admit db -j 1 --no-wait >wait; echo \"taken $?\"\n"
        "\"$JT\" release db \"$tok\"; echo \"released $?\"\n"
        "\"$JT\" release db \"$tok\"; echo \"again $?\"\n"
        "tok=$(\"$JT\" admit db -j 1 --lock-for 1s)\n"
        "other=$(\"$JT\" admit db -j 1 -w 30); echo \"ran out $?\"\n"
        "\"$JT\" renew db \"$tok\"; echo \"lost $?\"\n"
        "\"$JT\" release db --all >all; echo \"all $?\"\n"
        "\"$JT\" admit db -j 1 --no-wait >/dev/null; echo \"free $?\"\n");
    INFO(describe(result));
    CHECK(result.out == "16\nrenewed 0\ntaken 75\nreleased 0\nagain 75\nran out 0\nlost 75\nall 0\nfree 0\n");
    CHECK_THAT(result.err, ContainsSubstring("the lease was lost"));
    CHECK_THAT(read_file(site.file("all")), ContainsSubstring("released admit"));
}

// A script that dies with a place it said to follow it.
void check_followed(Where where) {
    const Site site(where);
    Program script({"bash", "-c",
                    "\"$JT\" admit f -j 1 --follow $$ --lock-for 60s >token; echo has it; sleep 60 & wait"},
                   site.options());
    CHECK(script.read_line() == "has it");
    CHECK(site.run({"run", "-k", "f", "-j", "1", "-n", "--", "true"}).code == 75);
    Crowd crowd;
    crowd.add(site.start({"run", "-k", "f", "-j", "1", "--", "true"}));
    crowd.watch_until([&] { return site.inspect("f", "waiting") == 1; });
    script.kill(SIGKILL);
    const BootTime killed = BootClock::now();
    const ProgramResult next = crowd.finish().front();
    INFO(describe(next));
    CHECK(next.code == 0);
    CHECK(next.ended - killed <= 1s + site.standstill().together());
    CHECK(script.wait().signal == SIGKILL);
}

// It lives for longer than its lease.
void check_follows_on(Where where) {
    const Site site(where);
    Program script(
        {"bash", "-c", "\"$JT\" admit f -j 1 --follow $$ --lock-for 1s >token; echo has it; sleep 3"},
        site.options());
    CHECK(script.read_line() == "has it");
    Crowd crowd;
    crowd.add(site.start({"run", "-k", "f", "-j", "1", "--", "true"}));
    const ProgramResult next = crowd.finish().front();
    CHECK(next.code == 0);
    CHECK(next.elapsed() >= 2500ms - site.standstill().together());
}

void check_skip_if_running(Where where) {
    const Site site(where);
    ProbeLog log(site.sandbox().path());
    Crowd crowd;
    Argv holder = {"run", "-k", "sync", "-j", "1", "-n", "-E", "0", "--"};
    const Argv probe = log.command({"holder", 1min, 1});
    holder.insert(holder.end(), probe.begin(), probe.end());
    crowd.add(site.start(holder));
    crowd.watch_until([&] { return log.find("holder").has_value(); });
    const Argv skipped = {"run", "-k", "sync", "-j", "1", "-n", "-E", "0", "--", "touch", site.file("ran")};
    const ProgramResult second = site.run(skipped);
    INFO(describe(second));
    CHECK(second.code == 0);
    CHECK_THAT(second.err, ContainsSubstring("not run"));
    CHECK_FALSE(std::filesystem::exists(site.file("ran")));
    crowd.at(0).kill(SIGTERM);
    crowd.finish();
    CHECK(site.run(skipped).code == 0);
    CHECK(std::filesystem::exists(site.file("ran")));
}

}  // namespace

TEST_CASE("tokens: scripts take places by themselves (local store)", "[e2e]") {
    check_scripts(Where::local);
}
TEST_CASE("tokens: scripts take places by themselves (Redis)", "[e2e]") {
    check_scripts(Where::redis);
}

TEST_CASE("tokens: renewed, released, lost (local store)", "[e2e]") {
    check_token(Where::local);
}
TEST_CASE("tokens: renewed, released, lost (Redis)", "[e2e]") {
    check_token(Where::redis);
}

TEST_CASE("tokens: a place goes with the process that it follows (local store)", "[e2e]") {
    check_followed(Where::local);
}
TEST_CASE("tokens: a place goes with the process that it follows (Redis)", "[e2e]") {
    check_followed(Where::redis);
}
TEST_CASE("tokens: a place stays as long as the process that it follows (local store)", "[e2e]") {
    check_follows_on(Where::local);
}
TEST_CASE("tokens: a place stays as long as the process that it follows (Redis)", "[e2e]") {
    check_follows_on(Where::redis);
}

TEST_CASE("tokens: skip when it is running (local store)", "[e2e]") {
    check_skip_if_running(Where::local);
}
TEST_CASE("tokens: skip when it is running (Redis)", "[e2e]") {
    check_skip_if_running(Where::redis);
}
