// SPDX-License-Identifier: MIT
// Wrappers that are killed: those behind them in line go on, and their commands end.
#include <algorithm>
#include <filesystem>

#include "crowd.hpp"
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_waiters = 60;
constexpr std::size_t k_killed = 30;

Argv run_at_four(const Site& site, const std::string& name) {
    Argv args = {"run", "-k", "k", "-r", "4/s", "--"};
    const Argv job = site.noting(name);
    args.insert(args.end(), job.begin(), job.end());
    return args;
}

// Of those that wait, all over the line.
std::vector<std::size_t> some_of(const std::vector<std::size_t>& waiting) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < k_killed; ++i)
        chosen.push_back(waiting.at(i * waiting.size() / k_killed));
    return chosen;
}

void check_killed(Where where, Duration all_started_after) {
    const Site site(where);
    Crowd crowd;
    for (std::size_t i = 0; i < k_waiters; ++i)
        crowd.add(site.start(run_at_four(site, std::to_string(i))));
    crowd.watch_for(2s);
    const std::vector<std::size_t> waiting = crowd.running();
    REQUIRE(waiting.size() > k_killed);
    const std::vector<std::size_t> victims = some_of(waiting);
    for (const std::size_t victim : victims)
        crowd.at(victim).kill(SIGKILL);
    const BootTime killed_at = BootClock::now();

    const std::vector<ProgramResult> results = crowd.finish();
    for (std::size_t i = 0; i < k_waiters; ++i) {
        // A victim whose turn came at that very moment may have started, or ended even.
        if (std::count(victims.begin(), victims.end(), i) > 0) continue;
        INFO(i << ": " << describe(results[i]));
        CHECK(results[i].code == 0);
    }
    const std::vector<Site::Start> starts = site.starts();
    REQUIRE(starts.size() >= k_waiters - k_killed);
    CHECK(starts.back().at - killed_at <= all_started_after + site.standstill().together());
    check_paced(times_of(starts), 4, site.standstill().longest());
}

}  // namespace

TEST_CASE("killed: half of those who wait cost the others little (local store)", "[e2e]") {
    check_killed(Where::local, 9s);
}

TEST_CASE("killed: half of those who wait cost the others little (Redis)", "[e2e]") {
    check_killed(Where::redis, 14s);
}

TEST_CASE("killed: the command of a killed wrapper gets TERM", "[e2e]") {
    const Site site(Where::local);
    const std::string script =
        "trap 'echo got TERM > \"$0\"; exit' TERM; echo ready; "
        "for i in $(seq 1200); do sleep 0.05; done";
    Program wrapper =
        site.start({"run", "-k", "k", "-r", "5/s", "--", "sh", "-c", script, site.file("ended")});
    CHECK(wrapper.read_line() == "ready");
    wrapper.kill(SIGKILL);
    CHECK(wrapper.wait().signal == SIGKILL);

    const BootTime until = BootClock::now() + 30s;
    while (!std::filesystem::exists(site.file("ended")) && BootClock::now() < until)
        sleep_for(10ms);
    REQUIRE(std::filesystem::exists(site.file("ended")));
}
