// SPDX-License-Identifier: MIT
// The figures that the contract states, in virtual time: they are exact or stand with room, on any machine.
#include <algorithm>

#include "support/catch.hpp"
#include "support/line_simulation.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

SimPlan at_once(int jobs, const std::string& limit, Duration late, Duration come_back = 5s) {
    SimPlan plan;
    plan.limit = limit;
    plan.come_back = come_back;
    plan.jobs.resize(static_cast<std::size_t>(jobs));
    for (auto& job : plan.jobs)
        job.late = late;
    return plan;
}

}  // namespace

TEST_CASE("figures: 200 at once at 8/s are all started after 24.875 s exactly, prompt or 90 ms late",
          "[unit]") {
    for (const Duration late : {Duration{0}, Duration{40ms}, Duration{90ms}}) {
        for (const Duration come_back : {Duration{2s}, Duration{5s}}) {
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                SimPlan plan = at_once(200, "8/s", late, come_back);
                plan.seed = seed;
                const SimResult result = simulate(plan);
                INFO("late " << late.count() << " us, seed " << seed);
                REQUIRE(result.starts.size() == 200);
                CHECK(result.last() == 24'875ms);
                CHECK(result.most_turns() <= 2);
            }
        }
    }
}

TEST_CASE("figures: the k-th of those who come at once starts after exactly (k-1) * T", "[unit]") {
    for (const char* limit : {"7/s", "13/2s", "90/min", "999/100s"}) {
        INFO(limit);
        const std::int64_t n = rate(limit).allow(), period = rate(limit).period().count();
        const SimResult result = simulate(at_once(100, limit, 90ms));
        REQUIRE(result.starts.size() == 100);
        for (std::int64_t k = 0; k < 100; ++k) {
            const std::int64_t exact = (k * period + n - 1) / n;  // rounded up to a microsecond
            CHECK(result.starts[static_cast<std::size_t>(k)].after == Duration{exact});
        }
    }
}

TEST_CASE("figures: 1,000 at once at 1000/s take 0.999 s and two questions each at the most", "[unit]") {
    for (const Duration late : {Duration{0}, Duration{90ms}}) {
        const SimResult result = simulate(at_once(1000, "1000/s", late));
        REQUIRE(result.starts.size() == 1000);
        CHECK(result.last() == 999ms);
        CHECK(result.most_turns() <= 2);
    }
}

TEST_CASE("figures: runners up to 1 s late take the line no tenth longer than it must", "[unit]") {
    const SimResult result = simulate(at_once(200, "8/s", 1s));
    REQUIRE(result.starts.size() == 200);
    CHECK(result.last() >= 24'875ms);
    CHECK(result.last() <= 28'500ms);
}

TEST_CASE("figures: an outage of 10 s is made good only by two late slots, and no burst follows", "[unit]") {
    SimPlan plan = at_once(400, "8/s", 20ms);
    plan.events.push_back({10s, SimTrouble::outage, 10s, {}});
    SimResult result = simulate(plan);
    REQUIRE(result.starts.size() == 400);
    CHECK(result.last() >= 59'500ms);
    CHECK(result.last() <= 61s);
    std::sort(result.starts.begin(), result.starts.end(),
              [](const SimStart& a, const SimStart& b) { return a.at_us < b.at_us; });
    for (std::size_t i = 3; i < result.starts.size(); ++i) {
        REQUIRE(result.starts[i].at_us - result.starts[i - 3].at_us >= 125'000);
    }
}

TEST_CASE("figures: of 300 waiting 60 % die and the rest is done soon", "[unit]") {
    for (const Duration come_back : {Duration{2s}, Duration{5s}}) {
        SimPlan plan = at_once(300, "8/s", 20ms, come_back);
        for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
            if (i % 5 >= 2) plan.jobs[i].dies = Duration{1ms};  // while they wait
        }
        const SimResult result = simulate(plan);
        INFO("come back " << come_back.count() << " us: " << result.last().count() << " us");
        REQUIRE(result.starts.size() >= 120);  // some of the dead had their start before they died
        CHECK(result.stuck.empty());
        CHECK(result.last() >= 14'875ms);
        CHECK(result.last() <= (come_back == Duration{2s} ? 17s : 20s));
    }
}
