// SPDX-License-Identifier: MIT
// A line that grows faster than one place is freed: how long it takes, and in which order.
#include "crowd.hpp"
#include "probes.hpp"
#include "site.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_count = 20;
constexpr Duration k_hold = 50ms;
constexpr Duration k_every = 40ms;
constexpr Duration k_in_time = 1100ms;
constexpr int k_more_attempts = 6;

struct Drained {
    Duration took{};  // from the first begin to the last end
    Duration standstill{};
    std::vector<std::string> order;
    std::size_t over = 0;
    std::vector<ProgramResult> results;

    bool in_time() const { return took <= k_in_time + standstill; }
};

std::vector<std::string> arrivals() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < k_count; ++i)
        names.push_back(std::to_string(i));
    return names;
}

Drained drain(Where where) {
    const Site site(where);
    ProbeLog log(site.sandbox().path());
    Crowd crowd;
    const BootTime first = BootClock::now();
    for (const std::string& name : arrivals()) {
        Argv args = {"run", "-k", "k", "-j", "1", "--"};
        const Argv job = log.command({name, k_hold, 1});
        args.insert(args.end(), job.begin(), job.end());
        crowd.add(site.start(args));
        crowd.watch_for(first + k_every * static_cast<std::int64_t>(crowd.size()) - BootClock::now());
    }
    Drained drained;
    drained.results = crowd.finish();
    const std::vector<Probed>& probes = log.read();
    for (const Probed& probe : probes)
        drained.order.push_back(probe.name);
    if (!probes.empty() && probes.back().ended) drained.took = *probes.back().ended - probes.front().began;
    drained.standstill = site.standstill().together();
    drained.over = log.count_over();
    return drained;
}

void check_drain(Where where) {
    // A machine that leaves the jobs or their starter waiting spoils the measurement, which is then made
    // anew; a program that hands over badly fails all of them.
    Drained drained = drain(where);
    for (int again = 0; again < k_more_attempts && !(drained.in_time() && drained.order == arrivals());
         ++again)
        drained = drain(where);
    INFO("took " << drained.took / 1ms << " ms with a standstill of " << drained.standstill / 1ms << " ms");
    CHECK(drained.order == arrivals());
    CHECK(drained.in_time());
    CHECK(drained.took >= k_hold * static_cast<std::int64_t>(k_count));
    CHECK(drained.over == 0);
    for (const ProgramResult& result : drained.results) {
        INFO(describe(result));
        CHECK(result.code == 0);
        CHECK(result.err.empty());
    }
}

}  // namespace

TEST_CASE("drain: twenty short jobs on one place, in the order they came (local store)", "[e2e]") {
    check_drain(Where::local);
}

TEST_CASE("drain: twenty short jobs on one place, in the order they came (Redis)", "[e2e]") {
    check_drain(Where::redis);
}
