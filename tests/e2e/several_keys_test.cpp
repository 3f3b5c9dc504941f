// SPDX-License-Identifier: MIT
// Jobs that need two keys: they start when both allow it, and cost nobody a slot or a place meanwhile.
#include "paced.hpp"
#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

// The command of a job notes under the name of its kind.
class Jobs {
public:
    explicit Jobs(Where where) : m_site(where), m_log(m_site.sandbox().path()) {}

    void start(const Argv& keys, const Probe& probe) {
        Argv args = {"run", "-w", "forever"};
        args.insert(args.end(), keys.begin(), keys.end());
        args.emplace_back("--");
        const Argv command = m_log.command(probe);
        args.insert(args.end(), command.begin(), command.end());
        m_crowd.add(m_site.start(args));
    }
    void check_all_end_well() {
        for (const ProgramResult& result : m_crowd.finish()) {
            INFO(describe(result));
            CHECK(result.code == 0);
        }
        CHECK(m_log.count_over() == 0);
    }
    // Of the kinds whose names begin with one of these letters.
    std::vector<BootTime> begun(const std::string& letters) {
        std::vector<BootTime> times;
        for (const Probed& probe : m_log.read()) {
            if (letters.find(probe.name.front()) != std::string::npos) times.push_back(probe.began);
        }
        return times;
    }
    const Site& site() const { return m_site; }
    Crowd& crowd() { return m_crowd; }

private:
    Site m_site;
    ProbeLog m_log;
    Crowd m_crowd;
};

Duration between_first_and_last(const std::vector<BootTime>& times) {
    return times.empty() ? Duration::zero()
                         : *std::max_element(times.begin(), times.end()) -
                               *std::min_element(times.begin(), times.end());
}

// Ten jobs on both keys, of which the slow one holds them up, stand before forty of the fast key alone.
void check_no_slot_is_lost(Where where) {
    Jobs jobs(where);
    for (int i = 0; i < 10; ++i)
        jobs.start({"-k", "fast", "-r", "20/s", "-k", "slow", "-r", "3/s"}, {"b" + std::to_string(i)});
    jobs.crowd().watch_until([&] { return jobs.site().inspect("slow", "waiting") >= 8; });
    for (int i = 0; i < 40; ++i)
        jobs.start({"-k", "fast", "-r", "20/s"}, {"a" + std::to_string(i)});
    jobs.check_all_end_well();
    REQUIRE(jobs.begun("ab").size() == 50);

    const Duration longest = jobs.site().standstill().longest();
    check_paced(jobs.begun("ab"), 20, longest);
    check_paced(jobs.begun("b"), 3, longest);
    // The fast key alone: 39 slots of its own, and those that the others have taken meanwhile.
    const Duration took = between_first_and_last(jobs.begun("a"));
    INFO("forty on the fast key took " << took / 1ms << " ms");
    CHECK(took <= 50ms * (39 + 9) + 500ms + jobs.site().standstill().together());
    // The slow key loses none either.
    CHECK(between_first_and_last(jobs.begun("b")) <=
          9 * 1s / 3 + 500ms + jobs.site().standstill().together());
}

void check_opposite_orders_of_rates(Where where) {
    Jobs jobs(where);
    for (int i = 0; i < 12; ++i) {
        jobs.start({"-k", "x", "-r", "10/s", "-k", "y", "-r", "8/s"}, {"x" + std::to_string(i)});
        jobs.start({"-k", "y", "-r", "8/s", "-k", "x", "-r", "10/s"}, {"y" + std::to_string(i)});
    }
    jobs.check_all_end_well();
    CHECK(jobs.begun("xy").size() == 24);
    check_paced(jobs.begun("xy"), 8, jobs.site().standstill().longest());
    CHECK(between_first_and_last(jobs.begun("xy")) <=
          23 * 125ms + 500ms + jobs.site().standstill().together());
}

// As philosophers at a table with two forks.
void check_opposite_orders_of_places(Where where) {
    Jobs jobs(where);
    constexpr int k_pairs = 10;
    for (int i = 0; i < k_pairs; ++i) {
        jobs.start({"-k", "x", "-j", "1", "-k", "y", "-j", "1"}, {"x" + std::to_string(i), 30ms, 1});
        jobs.start({"-k", "y", "-j", "1", "-k", "x", "-j", "1"}, {"y" + std::to_string(i), 30ms, 1});
    }
    jobs.check_all_end_well();
    const Duration took = between_first_and_last(jobs.begun("xy"));
    INFO("took " << took / 1ms << " ms");
    CHECK(jobs.begun("xy").size() == 2 * k_pairs);
    CHECK(took <= 2 * k_pairs * 30ms + 3s + jobs.site().standstill().together());
    CHECK(jobs.site().inspect("x", "places") <= 0);
    CHECK(jobs.site().inspect("y", "places") <= 0);
    CHECK(jobs.site().inspect("x", "waiting") <= 0);
}

// A job that waits for a place of one key leaves the place of the other to those who need only that.
void check_no_place_is_held_in_vain(Where where) {
    Jobs jobs(where);
    jobs.start({"-k", "taken", "-j", "1"}, {"holder", 1500ms});
    jobs.crowd().watch_until([&] { return jobs.begun("h").size() == 1; });
    jobs.start({"-k", "free", "-j", "1", "-k", "taken", "-j", "1"}, {"both"});
    jobs.crowd().watch_until([&] { return jobs.site().inspect("taken", "waiting") == 1; });
    for (int i = 0; i < 5; ++i)
        jobs.start({"-k", "free", "-j", "1"}, {"single" + std::to_string(i), 20ms});
    jobs.crowd().watch_until([&] { return jobs.begun("s").size() == 5; });
    CHECK(jobs.begun("b").empty());
    jobs.check_all_end_well();
    CHECK(jobs.begun("b").size() == 1);
}

}  // namespace

TEST_CASE("several keys: who waits for one costs the other no slot (local store)", "[e2e]") {
    check_no_slot_is_lost(Where::local);
}
TEST_CASE("several keys: who waits for one costs the other no slot (Redis)", "[e2e]") {
    check_no_slot_is_lost(Where::redis);
}

TEST_CASE("several keys: rates in opposite orders (local store)", "[e2e]") {
    check_opposite_orders_of_rates(Where::local);
}
TEST_CASE("several keys: rates in opposite orders (Redis)", "[e2e]") {
    check_opposite_orders_of_rates(Where::redis);
}

TEST_CASE("several keys: places in opposite orders (local store)", "[e2e]") {
    check_opposite_orders_of_places(Where::local);
}
TEST_CASE("several keys: places in opposite orders (Redis)", "[e2e]") {
    check_opposite_orders_of_places(Where::redis);
}

TEST_CASE("several keys: no place is held in vain (local store)", "[e2e]") {
    check_no_place_is_held_in_vain(Where::local);
}
TEST_CASE("several keys: no place is held in vain (Redis)", "[e2e]") {
    check_no_place_is_held_in_vain(Where::redis);
}
