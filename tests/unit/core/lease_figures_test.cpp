// SPDX-License-Identifier: MIT
// How fast a line behind leases moves and how much it asks, in virtual time. contract.md section 4.
#include <algorithm>
#include <random>

#include "support/catch.hpp"
#include "support/line_simulation.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

SimPlan holders(std::size_t jobs, const std::string& limit, Duration holds, Duration apart = 0s) {
    SimPlan plan;
    plan.limit = limit;
    plan.come_back = 2s;
    plan.jobs.resize(jobs);
    for (std::size_t i = 0; i < jobs; ++i) {
        plan.jobs[i].arrives = apart * static_cast<std::int64_t>(i);
        plan.jobs[i].holds = holds;
    }
    return plan;
}

// Attempts of between nothing and twice as long.
SimPlan mixed_holders(std::size_t jobs, const std::string& limit, Duration mean, Duration apart = 0s) {
    SimPlan plan = holders(jobs, limit, mean, apart);
    std::mt19937 random(7);
    for (auto& job : plan.jobs)
        job.holds = mean * static_cast<std::int64_t>(random() % 2000) / 1000;
    return plan;
}

// All attempts, one after the other in each place without a break.
Duration ideal(const SimPlan& plan) {
    Duration sum{};
    for (const auto& job : plan.jobs)
        sum += job.holds;
    return sum / *terms(plan.limit).concurrency();
}

bool in_order(const SimResult& result) {
    return std::is_sorted(result.starts.begin(), result.starts.end(),
                          [](const SimStart& a, const SimStart& b) { return a.job < b.job; });
}

Duration end_of(const SimResult& result) {
    Duration end{};
    for (const auto& start : result.starts)
        end = std::max(end, start.ends);
    return end;
}

Duration start_of(const SimResult& result, std::size_t job) {
    for (const auto& start : result.starts)
        if (start.job == job) return start.after;
    return Duration::max();
}

}  // namespace

TEST_CASE("lease figures: 20 of 50 ms, 40 ms apart, go one by one in order", "[unit]") {
    const SimResult result = simulate(holders(20, "1 at once", 50ms, 40ms));
    REQUIRE(result.starts.size() == 20);
    CHECK(in_order(result));
    CHECK(result.most_at_once() == 1);
    CHECK(end_of(result) <= 1'050ms);
    CHECK(result.asked.size() <= 60);
}

TEST_CASE("lease figures: a long line keeps its places in use", "[unit]") {
    const SimPlan plans[] = {
        holders(100, "1 at once", 50ms),       holders(100, "1 at once", 5ms),
        mixed_holders(100, "1 at once", 50ms), mixed_holders(500, "4 at once", 50ms),
        holders(100, "4 at once", 1s),         mixed_holders(1000, "50 at once", 200ms, 3ms),
    };
    for (const SimPlan& plan : plans) {
        const SimResult result = simulate(plan);
        INFO(plan.jobs.size() << " with " << plan.limit << " took " << end_of(result).count() << " us, ideal "
                              << ideal(plan).count() << ", " << result.asked.size() << " questions");
        REQUIRE(result.starts.size() == plan.jobs.size());
        CHECK(result.most_at_once() == *terms(plan.limit).concurrency());
        CHECK(end_of(result) <= ideal(plan) * 115 / 100 + 100ms);
        CHECK(result.asked.size() <= 25 * plan.jobs.size());
    }
}

TEST_CASE("lease figures: all places that become free at once are taken soon", "[unit]") {
    const SimResult result = simulate(holders(500, "50 at once", 1s));
    REQUIRE(result.starts.size() == 500);
    CHECK(result.most_at_once() == 50);
    CHECK(end_of(result) <= 13s);  // ideal 10
}

TEST_CASE("lease figures: runners that are late hold their place up for so long", "[unit]") {
    SimPlan plan = holders(100, "1 at once", 50ms);
    for (auto& job : plan.jobs)
        job.late = 20ms;
    const SimResult result = simulate(plan);
    REQUIRE(result.starts.size() == 100);
    CHECK(result.most_at_once() == 1);
    CHECK(end_of(result) <= 7s);  // ideal 5, and 10 ms each on the average
}

TEST_CASE("lease figures: beside a rate, both are used to the full", "[unit]") {
    for (const Duration holds : {300ms, 450ms}) {
        const SimResult result = simulate(holders(200, "8/s, 4 at once", holds));
        REQUIRE(result.starts.size() == 200);
        CHECK(result.last() == 24'875ms);
        CHECK(result.most_at_once() <= 4);
    }
    const SimResult result = simulate(holders(200, "8/s, 4 at once", 1s));
    CHECK(end_of(result) <= 52s);  // ideal 50
    CHECK(result.most_at_once() == 4);
}

TEST_CASE("lease figures: 2,000 that wait ask little, whatever the limit", "[unit]") {
    const std::pair<const char*, Duration> rows[] = {
        {"1 at once", 50ms}, {"4 at once", 10s}, {"1000/s, 4 at once", 1s}, {"599/min, 1 at once", 10s}};
    for (const auto& [limit, holds] : rows) {
        SimPlan plan = holders(2000, limit, holds, 10ms);  // a hundred come in a second
        plan.ends = 60s;
        const SimResult result = simulate(plan);
        INFO(limit << ": " << result.asked.size() << " in a minute, " << result.most_asked_in(1s)
                   << " in the worst second");
        CHECK(result.most_asked_in(1s) <= 600);
        CHECK(result.asked.size() <= 60 * 350);
        CHECK(result.most_at_once() <= *terms(limit).concurrency());
    }
}

TEST_CASE("lease figures: 2,000 instant jobs at 400/s are served in order", "[unit]") {
    const SimResult result = simulate(holders(2000, "400/s", 0s, 100us));
    REQUIRE(result.starts.size() == 2000);
    CHECK(in_order(result));
    CHECK(result.last() == 4'997'500us);
    CHECK(result.asked.size() <= 2000 + 2000 + 500);  // arrivals, starts, and a hundred a second
}

TEST_CASE("lease figures: whoever lets an offer pass costs the others less than a second", "[unit]") {
    for (const bool seen : {false, true}) {
        for (const std::size_t behind : {1U, 2U, 5U}) {
            SimPlan plan = holders(2 + behind, "1 at once", 2s);
            plan.sees_deaths = seen;
            plan.jobs[1].dies = 1s;  // the first in line
            const SimResult result = simulate(plan);
            INFO("seen " << seen << ", behind " << behind);
            REQUIRE(result.starts.size() == 1 + behind);
            CHECK(start_of(result, 2) <= (seen ? 2s + 5ms : 3s));
            CHECK(result.most_at_once() == 1);
            CHECK(result.stuck.empty());
        }
    }
}

TEST_CASE("lease figures: the place of a holder that died is free when its lease is over", "[unit]") {
    SimPlan plan = holders(6, "1 at once", 10min);
    plan.lock_for = 30s;
    plan.jobs[0].dies = 5min;
    SimResult result = simulate(plan);
    CHECK(start_of(result, 1) > 5min);  // it was renewed that long
    CHECK(start_of(result, 1) <= 5min + 30s + 10ms);
    CHECK(result.most_asked_in(1s) <= 30);

    plan.sees_deaths = true;  // and sooner where the store sees it die
    result = simulate(plan);
    CHECK(start_of(result, 1) >= 5min);
    CHECK(start_of(result, 1) <= 5min + 2s);
    CHECK(result.stuck.empty());
}

TEST_CASE("lease figures: nothing is left where all have come and gone", "[unit]") {
    SimPlan plan = mixed_holders(60, "3 at once", 300ms, 20ms);
    for (std::size_t i = 0; i < plan.jobs.size(); i += 5)
        plan.jobs[i].dies = Duration{std::chrono::milliseconds{37 * i}};
    for (std::size_t i = 2; i < plan.jobs.size(); i += 7)
        plan.jobs[i].gives_up = Duration{std::chrono::milliseconds{41 * i}};
    SimResult result = simulate(plan);
    CHECK(result.stuck.empty());
    CHECK(result.most_at_once() <= 3);
    Desk& desk = result.desks.front();
    desk.after(10min + 1min + 1s).peek();  // a lease runs out, and a lost one and a ticket are forgotten
    CHECK_FALSE(desk.records().header().has_value());
    CHECK(desk.records().leases().empty());
    CHECK(desk.records().tickets().empty());
}
