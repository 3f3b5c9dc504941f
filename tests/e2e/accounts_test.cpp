// SPDX-License-Identifier: MIT
// What starts cost, which of them count, and who may not even wait.
#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

void check_settled(Where where) {
    const Site site(where);
    const auto spend = [&](const std::string& script) {
        return site.run(
            {"run", "-k", "tokens", "-r", "100/4s,burst=100", "--cost", "60", "--", "sh", "-c", script});
    };
    // Too little was guessed: what is left is not enough for another of its kind.
    const BootTime before = BootClock::now();
    CHECK(spend("\"$JT\" settle 90").code == 0);
    CHECK(site.inspect("tokens", "starts_in_window") == 90);
    const ProgramResult refused =
        site.run({"run", "-k", "tokens", "-r", "100/4s,burst=100", "--cost", "60", "-n", "--", "true"});
    INFO(describe(refused));
    CHECK(refused.code == 75);
    CHECK(spend("\"$JT\" settle 5").code == 0);
    CHECK(BootClock::now() - before >= 4s);

    // Too much was guessed: the rest is there at once.
    CHECK(site.inspect("tokens", "starts_in_window") == 5);
    const BootTime again = BootClock::now();
    for (int i = 0; i < 5; ++i)
        CHECK(spend("\"$JT\" settle 1").code == 0);
    CHECK(BootClock::now() - again <= 2s + site.standstill().together());
    CHECK(site.inspect("tokens", "starts_in_window") == 10);
}

void check_successes(Where where) {
    const Site site(where);
    Crowd crowd;
    ProbeLog log(site.sandbox().path());
    const Argv counted = {"run", "-k", "k", "-r", "2/1h", "--count", "successes"};
    const auto with = [&](const Argv& more) {
        Argv args = counted;
        args.insert(args.end(), more.begin(), more.end());
        return args;
    };
    for (int i = 0; i < 5; ++i)
        CHECK(site.run(with({"--", "false"})).code == 1);
    CHECK(site.run(with({"--", "true"})).code == 0);

    // One that is under way may succeed: it counts until it has failed.
    Argv failing = with({"--"});
    const Argv probe = log.command({"failing", 1500ms, 0, false, true});
    failing.insert(failing.end(), probe.begin(), probe.end());
    crowd.add(site.start(failing));
    crowd.watch_until([&] { return log.find("failing").has_value(); });
    CHECK(site.run(with({"-n", "--", "true"})).code == 75);
    CHECK(site.run(with({"-w", "30", "--", "true"})).code == 0);
    CHECK(log.find("failing")->ended.has_value());
    CHECK(crowd.finish().front().code == 1);
    CHECK(site.run(with({"-n", "--", "true"})).code == 75);
}

void check_max_waiting(Where where) {
    Places places(where, 1, {});
    const auto holder = places.start_to_run({"holder", 1min});
    places.start_to_wait({"first", 10ms}, {"--max-waiting", "2"});
    places.start_to_wait({"second", 10ms}, {"--max-waiting", "2"});
    const ProgramResult third =
        places.site().run({"run", "-k", "k", "-j", "1", "--max-waiting", "2", "--", "true"});
    INFO(describe(third));
    CHECK(third.code == 75);
    CHECK(third.elapsed() <= 5s);
    CHECK_THAT(third.err, ContainsSubstring("2 jobs wait already"));
    CHECK(places.site().inspect("k", "waiting") == 2);
    places.wrapper(holder).kill(SIGTERM);
    places.crowd().finish();
    CHECK(places.has_begun({2, "second"}));
}

void check_nested(Where where) {
    const Site site(where);
    const ProgramResult inside =
        site.run({"run", "-k", "k", "-j", "2", "--", "sh", "-c",
                  "\"$JT\" run -k k -j 2 -- touch ran; echo $?; "
                  "\"$JT\" run -k other -j 1 -- sh -c '\"$JT\" admit k -j 2'; echo $?"});
    INFO(describe(inside));
    CHECK(inside.code == 0);
    CHECK(inside.out == "78\n78\n");
    CHECK_THAT(inside.err, ContainsSubstring("could wait for itself for ever"));
    CHECK(site.inspect("k", "started") == 1);
    // Another key, and the same one afterwards, are no business of it.
    CHECK(
        site.run({"run", "-k", "k", "-j", "2", "--", "sh", "-c", "\"$JT\" run -k other -j 1 -- true"}).code ==
        0);
}

}  // namespace

TEST_CASE("accounts: settle replaces what was guessed (local store)", "[e2e]") {
    check_settled(Where::local);
}
TEST_CASE("accounts: settle replaces what was guessed (Redis)", "[e2e]") {
    check_settled(Where::redis);
}
TEST_CASE("accounts: settle outside of an attempt is a mistake", "[e2e]") {
    CHECK(Site(Where::local).run({"settle", "5"}).code == 64);
}

TEST_CASE("accounts: where successes count, a failed attempt does not (local store)", "[e2e]") {
    check_successes(Where::local);
}
TEST_CASE("accounts: where successes count, a failed attempt does not (Redis)", "[e2e]") {
    check_successes(Where::redis);
}

TEST_CASE("accounts: --max-waiting lets no more line up (local store)", "[e2e]") {
    check_max_waiting(Where::local);
}
TEST_CASE("accounts: --max-waiting lets no more line up (Redis)", "[e2e]") {
    check_max_waiting(Where::redis);
}

TEST_CASE("accounts: a run inside a run that holds its key is refused (local store)", "[e2e]") {
    check_nested(Where::local);
}
TEST_CASE("accounts: a run inside a run that holds its key is refused (Redis)", "[e2e]") {
    check_nested(Where::redis);
}
