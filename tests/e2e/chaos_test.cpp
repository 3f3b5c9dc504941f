// SPDX-License-Identifier: MIT
// 300 processes on three keys, killed, stopped and interrupted at random. JT_CHAOS_SECONDS says for how long
// on each store.
#include "chaos.hpp"

#include <csignal>
#include <cstdlib>
#include <sstream>

#include "base/text.hpp"
#include "paced.hpp"
#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_jobs_of_each = 100;
constexpr Duration k_lock_for = 2s;
// A ticket of a runner that came late or was killed, and a lease that ran out.
constexpr Duration k_ticket_kept = 10min;
// The records of a Redis get half as much again, so that not every call needs to renew it.
constexpr Duration k_records_kept = k_ticket_kept * 3 / 2 + 1min;

Duration chaos_length() {
    const char* chosen = std::getenv("JT_CHAOS_SECONDS");
    const auto seconds = parse_whole_number(chosen != nullptr ? chosen : "");
    return seconds && *seconds > 0 ? Duration{std::chrono::seconds{*seconds}} : 8s;
}

std::vector<ChaosKey> three_keys() {
    // Those with a burst are plain windows, where one start too many shows at once.
    return {{"rate", {"-r", "25/s,burst=25"}, 0, {{25, 1s}}},
            {"places", {"-j", "3", "--lock-for", "2s"}, 3, {}},
            {"both", {"-r", "20/s", "-r", "45/3s", "-j", "4", "--lock-for", "2s"}, 4, {{20, 1s}, {45, 3s}}}};
}

void check_windows(Chaos& chaos, const ChaosKey& key) {
    std::vector<BootTime> times;
    for (const Probed& probe : chaos.log(key.name).read())
        times.push_back(probe.began);
    CHECK(times.size() > 10);
    const Duration lateness = k_lateness + chaos.site().standstill().longest();
    for (const ChaosKey::Window& window : key.windows) {
        INFO(key.name << ", " << window.most << " in " << window.period / 1ms << " ms");
        CHECK(most_within(times, std::max(Duration::zero(), window.period - lateness)) <= window.most);
    }
}

void check_results(const Chaos& chaos) {
    std::size_t unhurt = 0;
    for (const Chaos::Ended& one : chaos.ended()) {
        if (one.hurt) continue;
        ++unhurt;
        if (one.result.code == 0 && one.result.err.find("lost") == std::string::npos) continue;
        INFO(one.key << ": " << describe(one.result));
        CHECK(one.result.code == 0);
        CHECK(one.result.err.empty());
    }
    CHECK(unhurt > 100);
    CHECK(chaos.ended().size() - unhurt > 100);
}

void check_nothing_left(Chaos& chaos, const std::string& key) {
    INFO(key);
    const BootTime until = BootClock::now() + k_lock_for + 10s;
    const auto left = [&](const char* what) { return chaos.site().inspect(key, what); };
    while (BootClock::now() < until && (left("places") > 0 || left("waiting") > 0))
        sleep_for(100ms);
    CHECK(left("places") <= 0);
    CHECK(left("waiting") <= 0);
    // Those that were killed while they waited keep a number for a while, and hold nobody up.
    CHECK(left("late") <= static_cast<std::int64_t>(chaos.killed()));
}

// Nothing in it is there for good.
void check_expires(Site& site, Duration at_most) {
    std::istringstream names(site.redis().cli({"KEYS", "*"}));
    for (std::string name; std::getline(names, name);) {
        INFO(name);
        const auto left_ms = parse_whole_number(site.redis().cli({"PTTL", name}));
        REQUIRE(left_ms.has_value());
        CHECK(*left_ms <= at_most / 1ms);
    }
}

void check_chaos(Where where) {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    Chaos chaos(where, three_keys(), k_jobs_of_each, seed);
    chaos.rage(chaos_length());
    chaos.calm_down();
    check_results(chaos);
    for (const ChaosKey& key : chaos.keys()) {
        check_windows(chaos, key);
        CHECK(chaos.log(key.name).count_over() == 0);
        check_nothing_left(chaos, key.name);
    }
    if (where == Where::redis) check_expires(chaos.site(), k_records_kept);
}

// A job that was killed with its place, one that was interrupted in line, and one that waited and ran.
void check_gone_after_it_idles(Where where) {
    Places places(where, 1, {"-r", "20/s", "--lock-for", "1s"});
    const auto holder = places.start_to_run({"holder", 1min});
    const auto impatient = places.start_to_wait({"impatient", 10ms});
    const auto waiter = places.start_to_wait({"waiter", 10ms});
    places.wrapper(impatient).kill(SIGTERM);
    if (where == Where::local) places.wrapper(holder).kill(SIGKILL);
    // On Redis a lease that ran out is remembered for its renewal; so there the command alone.
    if (where == Where::redis) REQUIRE(kill(places.command(holder), SIGKILL) == 0);
    places.wait_begun(waiter);
    places.crowd().finish();
    CHECK(places.site().inspect("k", "started") == 2);
    places.crowd().watch_until([&] { return places.site().inspect("k", "started") == -1; }, 20s);
    if (where == Where::redis) check_expires(places.site(), k_records_kept);
}

}  // namespace

TEST_CASE("chaos: killed and stopped at random, no limit is broken and nothing is left (local store)",
          "[e2e]") {
    check_chaos(Where::local);
}

TEST_CASE("chaos: killed and stopped at random, no limit is broken and nothing is left (Redis)", "[e2e]") {
    check_chaos(Where::redis);
}

TEST_CASE("chaos: the state of a key is gone after it idles (local store)", "[e2e]") {
    check_gone_after_it_idles(Where::local);
}

TEST_CASE("chaos: the state of a key is gone after it idles (Redis)", "[e2e]") {
    check_gone_after_it_idles(Where::redis);
}
