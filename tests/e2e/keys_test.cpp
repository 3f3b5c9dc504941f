// SPDX-License-Identifier: MIT
// Many processes on one key, and keys beside each other.
#include "crowd.hpp"
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"
#include "support/pool.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

Argv run_noting(const Site& site, const std::string& key, const std::string& rate, const std::string& name) {
    Argv args = {"run", "-k", key, "-r", rate, "-w", "forever", "--"};
    const Argv job = site.noting(name);
    args.insert(args.end(), job.begin(), job.end());
    return args;
}

void check_all_ran(const std::vector<ProgramResult>& results) {
    for (const ProgramResult& result : results) {
        INFO(describe(result));
        CHECK(result.code == 0);
        CHECK(result.out.empty());
    }
}

void check_pause(Where where) {
    const Site site(where);
    const ProgramResult paused = site.run({"pause", "k", "1h"});
    INFO(describe(paused));
    REQUIRE(paused.code == 0);
    Crowd crowd;
    constexpr std::size_t k_count = 8;
    for (std::size_t i = 0; i < k_count; ++i)
        crowd.add(site.start(run_noting(site, "k", "5/s", std::to_string(i))));
    crowd.watch_until([&] { return site.inspect("k", "waiting") == static_cast<std::int64_t>(k_count); });
    crowd.watch_for(300ms);
    CHECK(crowd.running().size() == k_count);
    CHECK(site.starts().empty());

    REQUIRE(site.run({"resume", "k"}).code == 0);
    check_all_ran(crowd.finish());
    const std::vector<Site::Start> starts = site.starts();
    CHECK(sorted_names(starts) == names_up_to(k_count));
    check_paced(times_of(starts), 5, site.standstill().longest());
}

}  // namespace

TEST_CASE("keys: 200 processes at once share a local store", "[e2e]") {
    constexpr std::size_t k_count = 200;
    const Site site(Where::local);
    std::vector<Argv> commands;
    for (std::size_t i = 0; i < k_count; ++i)
        commands.push_back(site.command(run_noting(site, "k", "100/s", std::to_string(i))));
    const PoolResult pool = run_pool(commands, k_count, site.options());
    check_all_ran(pool.results);
    const std::vector<Site::Start> starts = site.starts();
    CHECK(sorted_names(starts) == names_up_to(k_count));
    check_paced(times_of(starts), 100, site.standstill().longest());
    CHECK(site.inspect("k", "started") >= static_cast<std::int64_t>(k_count));
    CHECK(site.inspect("k", "waiting") == 0);
}

TEST_CASE("keys: one that is full leaves another alone", "[e2e]") {
    const Site site(Where::local);
    REQUIRE(site.run({"run", "-k", "slow", "-r", "1/h", "--", "true"}).code == 0);
    Crowd slow;
    for (std::size_t i = 0; i < 4; ++i)
        slow.add(site.start(run_noting(site, "slow", "1/h", "slow")));
    slow.watch_until([&] { return site.inspect("slow", "waiting") == 4; });

    std::vector<Argv> commands;
    for (std::size_t i = 0; i < 10; ++i)
        commands.push_back(site.command(run_noting(site, "quick", "20/s", std::to_string(i))));
    check_all_ran(run_pool(commands, commands.size(), site.options()).results);
    CHECK(sorted_names(site.starts()) == names_up_to(10));
    CHECK(site.inspect("slow", "waiting") == 4);

    // Those who wait go when they are told to, and leave no place behind.
    for (std::size_t i = 0; i < slow.size(); ++i)
        slow.at(i).kill(SIGTERM);
    for (const ProgramResult& result : slow.finish()) {
        INFO(describe(result));
        CHECK(result.status() == 128 + SIGTERM);
    }
    CHECK(site.inspect("slow", "waiting") == 0);
    CHECK(site.inspect("unheard-of", "waiting") == -1);
}

TEST_CASE("keys: a pause holds everybody until it is resumed (local store)", "[e2e]") {
    check_pause(Where::local);
}

TEST_CASE("keys: a pause holds everybody until it is resumed (Redis)", "[e2e]") {
    check_pause(Where::redis);
}
