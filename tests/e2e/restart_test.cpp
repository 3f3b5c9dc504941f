// SPDX-License-Identifier: MIT
// A Redis that restarts, hangs or was never there, while real jobs use it.
#include <algorithm>

#include "crowd.hpp"
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

Argv run_noting(const Site& site, const std::string& name, const Argv& options) {
    Argv args = {"run", "-k", "k"};
    args.insert(args.end(), options.begin(), options.end());
    args.emplace_back("--");
    const Argv job = site.noting(name);
    args.insert(args.end(), job.begin(), job.end());
    return args;
}

void start_jobs(Crowd& crowd, const Site& site, std::size_t count, const Argv& options) {
    for (std::size_t i = 0; i < count; ++i)
        crowd.add(site.start(run_noting(site, std::to_string(i), options)));
}

std::vector<BootTime> since(const Site& site, BootTime moment) {
    std::vector<BootTime> times;
    for (const Site::Start& start : site.starts()) {
        if (start.at >= moment) times.push_back(start.at);
    }
    return times;
}

void check_none_lost_or_twice(const Site& site, const std::vector<ProgramResult>& results) {
    for (const ProgramResult& result : results) {
        INFO(describe(result));
        CHECK(result.code == 0);
    }
    CHECK(sorted_names(site.starts()) == names_up_to(results.size()));
}

std::size_t count_saying(const std::vector<ProgramResult>& results, const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(),
        [&](const ProgramResult& result) { return result.err.find(text) != std::string::npos; }));
}

void check_restart(RedisServer::Data data) {
    Site site(Where::redis);
    Crowd crowd;
    start_jobs(crowd, site, 30, {"-r", "10/s"});
    crowd.watch_until([&] { return site.starts().size() >= 4; });
    site.redis().stop(data);
    const BootTime gone = BootClock::now();
    crowd.watch_for(1s);
    const BootTime back = BootClock::now();
    site.redis().start();
    const std::vector<ProgramResult> results = crowd.finish();

    check_none_lost_or_twice(site, results);
    // What was granted starts up to 100 ms later; who still waits does so until the store is back.
    const Duration granted = 100ms + k_lateness + site.standstill().longest();
    CHECK(since(site, gone + granted).size() == since(site, back).size());

    const std::vector<BootTime> after = since(site, back);
    // More than may start in a second, so that a burst would be seen.
    CHECK(after.size() > 10);
    check_paced(after, 10, site.standstill().longest());
    const std::size_t lost = count_saying(results, "the store lost");
    if (data == RedisServer::Data::lost) {
        CHECK(lost > 0);
    } else {
        CHECK(lost == 0);
    }
}

// A Redis that cannot be used from the start, in one of two ways.
enum class Away { gone, silent };

// Both time-outs, and three seconds for the machine.
constexpr Duration k_policy_in_time = 1s + 2s + 3s;

void take_away(Site& site, Away how) {
    if (how == Away::gone) {
        site.redis().stop();
    } else {
        site.redis().freeze();
    }
}

std::vector<ProgramResult> run_without_store(Site& site, const std::string& policy, std::size_t count) {
    Crowd crowd;
    start_jobs(crowd, site, count, {"-r", "5/s", "--on-store-error", policy});
    return crowd.finish();
}

void check_local_policy(Away how) {
    Site site(Where::redis);
    take_away(site, how);
    constexpr std::size_t k_count = 6;
    const auto results = run_without_store(site, "local", k_count);
    check_none_lost_or_twice(site, results);
    CHECK(count_saying(results, "this machine only") == k_count);
    for (const ProgramResult& result : results)
        CHECK(result.elapsed() <= k_policy_in_time + 200ms * k_count);
    // Still throttled: one more than a second lets through.
    check_paced(times_of(site.starts()), 5, site.standstill().longest());
}

void check_open_policy(Away how) {
    Site site(Where::redis);
    take_away(site, how);
    constexpr std::size_t k_count = 6;
    const auto results = run_without_store(site, "open", k_count);
    check_none_lost_or_twice(site, results);
    CHECK(count_saying(results, "unthrottled") == k_count);
    for (const ProgramResult& result : results)
        CHECK(result.elapsed() <= k_policy_in_time);
}

void check_closed_policy(Away how) {
    Site site(Where::redis);
    take_away(site, how);
    const auto results = run_without_store(site, "closed", 3);
    for (const ProgramResult& result : results) {
        INFO(describe(result));
        CHECK(result.code == 69);
        CHECK(result.out.empty());
        CHECK_THAT(result.err, ContainsSubstring("unix:"));
        CHECK(result.elapsed() <= k_policy_in_time);
    }
    CHECK(site.starts().empty());
}

}  // namespace

TEST_CASE("restart: of a Redis that lost its data no job is lost or run twice", "[e2e]") {
    check_restart(RedisServer::Data::lost);
}

TEST_CASE("restart: of a Redis that kept its data no job is lost or run twice", "[e2e]") {
    check_restart(RedisServer::Data::kept);
}

TEST_CASE("restart: a Redis that hangs for longer than the time-outs costs no job and no order", "[e2e]") {
    Site site(Where::redis);
    Crowd crowd;
    start_jobs(crowd, site, 12, {"-r", "5/s", "--connect-timeout", "500ms", "--command-timeout", "500ms"});
    crowd.watch_until([&] { return site.starts().size() >= 3; });
    site.redis().freeze();
    crowd.watch_for(2s);
    site.redis().thaw();
    const std::vector<ProgramResult> results = crowd.finish();
    check_none_lost_or_twice(site, results);
    check_paced(times_of(site.starts()), 5, site.standstill().longest());
}

TEST_CASE("away: local throttles on this machine", "[e2e]") {
    check_local_policy(Away::gone);
    check_local_policy(Away::silent);
}

TEST_CASE("away: open runs unthrottled and says so", "[e2e]") {
    check_open_policy(Away::gone);
    check_open_policy(Away::silent);
}

TEST_CASE("away: closed runs nothing", "[e2e]") {
    check_closed_policy(Away::gone);
    check_closed_policy(Away::silent);
}
