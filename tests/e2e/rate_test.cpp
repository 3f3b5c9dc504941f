// SPDX-License-Identifier: MIT
// A worker pool at a rate, as a queue of jobs would have it: done in time, and never over.
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"
#include "support/pool.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_slot = 125ms;
constexpr Duration k_job = 150ms;

// What `count` jobs at 8/s take at best: the last slot, and the job in it.
Duration ideal(std::size_t count) {
    return k_slot * static_cast<std::int64_t>(count - 1) + k_job;
}

PoolResult run_jobs(const Site& site, std::size_t count) {
    std::vector<Argv> commands;
    for (std::size_t i = 0; i < count; ++i) {
        Argv args = {"run", "-k", "pool", "-r", "8/s", "--"};
        const Argv job = site.noting(std::to_string(i), "exec sleep 0.15");
        args.insert(args.end(), job.begin(), job.end());
        commands.push_back(site.command(args));
    }
    return run_pool(commands, 10, site.options());
}

void check_jobs(const Site& site, const PoolResult& pool, std::size_t count) {
    CHECK(pool.count_with_code(0) == count);
    const std::vector<Site::Start> starts = site.starts();
    CHECK(sorted_names(starts) == names_up_to(count));
    check_paced(times_of(starts), 8, site.standstill().longest());
    CHECK(pool.elapsed() >= ideal(count) - 2 * k_slot - k_lateness);
}

}  // namespace

TEST_CASE("rate: 200 jobs on ten workers take their 25 seconds (Redis)", "[e2e]") {
    // At full size here only, to keep the tests short.
    constexpr std::size_t k_count = 200;
    Site site(Where::redis);
    const PoolResult pool = run_jobs(site, k_count);
    const std::int64_t calls = site.redis().script_calls();
    check_jobs(site, pool, k_count);
    CHECK(pool.elapsed() <= 25s + 500ms + site.standstill().together());
    CHECK(calls <= static_cast<std::int64_t>(3 * k_count));
    CHECK(calls >= static_cast<std::int64_t>(k_count));
}

TEST_CASE("rate: 60 jobs on ten workers keep to 8/s (local store)", "[e2e]") {
    constexpr std::size_t k_count = 60;
    const Site site(Where::local);
    const PoolResult pool = run_jobs(site, k_count);
    check_jobs(site, pool, k_count);
    // The first start and the last end weigh more here than in 200: half a second for both.
    CHECK(pool.elapsed() <= ideal(k_count) + 500ms + site.standstill().together());
}
