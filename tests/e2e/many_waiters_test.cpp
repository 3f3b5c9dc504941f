// SPDX-License-Identifier: MIT
// 2,000 waiters on one key of one Redis: what they cost the server, and in which order they are served.
#include <sys/resource.h>

#include <algorithm>

#include "crowd.hpp"
#include "paced.hpp"
#include "site.hpp"
#include "support/catch.hpp"
#include "support/resp.hpp"
#include "waiters.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t k_count = 2000;
constexpr std::size_t k_most_connections = 64;
// Each asks at least once in 10 ms for each that waits, spread over half of that: 139 a second on average.
constexpr double k_most_a_second = 160;

void allow_descriptors() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 8192));
    setrlimit(RLIMIT_NOFILE, &limit);
}

// What the server sees over a while.
struct Seen {
    std::int64_t questions = 0;
    std::size_t most_connections = 0;
    Duration length{};
};

template <typename Until>
Seen watch(RedisServer& server, Until until) {
    const Fd connection = connect_to_socket(server.socket_path());
    server.reset_stats();
    const BootTime began = BootClock::now();
    Seen seen;
    while (!until(BootClock::now() - began)) {
        const std::string clients = redis_command(connection, {"CLIENT", "LIST"});
        const auto count = static_cast<std::size_t>(std::count(clients.begin(), clients.end(), '\n'));
        seen.most_connections = std::max(seen.most_connections, count - 1);  // without our own
        sleep_for(20ms);
    }
    seen.length = BootClock::now() - began;
    seen.questions = server.script_calls();
    return seen;
}

double per_second(std::int64_t questions, Duration length) {
    return static_cast<double>(questions) * 1e6 / static_cast<double>(length.count());
}

// Lines them up, as fast as the machine can.
void line_up(const Site& site, Waiters& waiters) {
    for (std::size_t i = 0; i < k_count; ++i) {
        waiters.add_one();
        if (i % 20 == 19) sleep_for(20ms);
    }
    const BootTime until = BootClock::now() + 60s;
    while (site.inspect("k", "waiting") < static_cast<std::int64_t>(k_count) && BootClock::now() < until)
        sleep_for(50ms);
    REQUIRE(site.inspect("k", "waiting") == static_cast<std::int64_t>(k_count));
}

// How much later than somebody behind it one was served, at the worst.
Duration worst_inversion(const std::vector<Waiters::Passed>& by_time) {
    Duration worst{};
    BootTime earliest_behind = BootTime::max();
    std::vector<Waiters::Passed> by_number = by_time;
    std::sort(by_number.begin(), by_number.end(),
              [](const auto& a, const auto& b) { return a.number > b.number; });
    for (const Waiters::Passed& one : by_number) {
        if (one.at > earliest_behind) worst = std::max(worst, one.at - earliest_behind);
        earliest_behind = std::min(earliest_behind, one.at);
    }
    return worst;
}

}  // namespace

TEST_CASE("many waiters: 2,000 at 400/s are served in order, with about one question each", "[e2e]") {
    allow_descriptors();
    Site site(Where::redis);
    REQUIRE(site.run({"pause", "k", "12s"}).code == 0);
    Waiters waiters(site.store_url(), "k", *Terms::make({*parse_rate("400/s")}));
    line_up(site, waiters);
    const Seen seen =
        watch(site.redis(), [&](Duration gone) { return waiters.count_passed() == k_count || gone > 60s; });
    waiters.finish();

    const std::vector<Waiters::Passed> passed = waiters.passed();
    REQUIRE(passed.size() == k_count);
    std::vector<BootTime> times;
    for (const Waiters::Passed& one : passed)
        times.push_back(one.at);
    const Duration longest = site.standstill().longest();
    check_paced(times, 400, longest);
    const Duration took = times.back() - times.front();
    const Duration worst = worst_inversion(passed);
    INFO("took " << took / 1ms << " ms, " << seen.questions << " questions in " << seen.length / 1ms
                 << " ms, " << seen.most_connections << " connections, at worst " << worst / 1ms
                 << " ms out of turn");
    CHECK(took <= 2500us * (k_count - 1) + 500ms + site.standstill().together());
    // A start is granted up to 100 ms ahead and then slept towards.
    CHECK(worst <= 100ms + k_lateness + longest);
    CHECK(seen.questions >= static_cast<std::int64_t>(k_count));
    CHECK(per_second(seen.questions - static_cast<std::int64_t>(k_count), seen.length) <= k_most_a_second);
    CHECK(seen.most_connections <= k_most_connections);
}

TEST_CASE("many waiters: 2,000 for four places cost the server little while they wait", "[e2e]") {
    allow_descriptors();
    Site site(Where::redis);
    Crowd holders;
    for (int i = 0; i < 4; ++i)
        holders.add(site.start({"run", "-k", "k", "-j", "4", "--", "sleep", "120"}));
    holders.watch_until([&] { return site.inspect("k", "places") == 4; });
    Waiters waiters(site.store_url(), "k", *Terms::make({}, 4));
    line_up(site, waiters);
    const Seen seen = watch(site.redis(), [&](Duration gone) { return gone > 6s; });
    INFO(seen.questions << " questions in " << seen.length / 1ms << " ms, " << seen.most_connections
                        << " connections");
    CHECK(waiters.count_passed() == 0);
    CHECK(per_second(seen.questions, seen.length) <= k_most_a_second);
    CHECK(seen.most_connections <= k_most_connections);
}
