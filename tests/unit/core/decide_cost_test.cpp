// SPDX-License-Identifier: MIT
// Jobs that count as several starts, and what they cost in truth. contract.md section 1, --cost and settle.
#include <random>

#include "support/catch.hpp"
#include "support/line_simulation.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

// A desk whose jobs settle later.
Desk settling(const std::string& limit) {
    Desk desk(limit, 60s);
    desk.usual().settles = true;
    desk.usual().lock_for = 24h;
    return desk;
}

// What started when and costs what, in plain lists.
class Ledger {
public:
    void add(StartId id, std::int64_t at_us, std::int64_t cost) { m_entries.push_back({id, at_us, cost}); }
    std::size_t size() const { return m_entries.size(); }
    StartId id(std::size_t entry) const { return m_entries[entry].id; }
    std::int64_t& cost(std::size_t entry) { return m_entries[entry].cost; }
    std::int64_t after(std::int64_t us) const {
        std::int64_t sum = 0;
        for (const auto& entry : m_entries)
            if (entry.at_us > us) sum += entry.cost;
        return sum;
    }

private:
    struct Entry {
        StartId id = 0;
        std::int64_t at_us = 0, cost = 0;
    };
    std::vector<Entry> m_entries;
};

}  // namespace

TEST_CASE("cost: a start takes as many slots", "[unit]") {
    SimPlan plan;
    plan.limit = "2000/min";
    plan.jobs.resize(100);
    for (auto& job : plan.jobs) {
        job.cost = 100;
        job.late = 90ms;
    }
    SimResult result = simulate(plan);
    REQUIRE(result.starts.size() == 100);
    for (std::size_t k = 0; k < 100; ++k)
        CHECK(result.starts[k].after == 3s * static_cast<std::int64_t>(k));
    CHECK(result.most_turns() <= 2);
}

TEST_CASE("cost: 90,000 a minute in jobs of 1,500 are one a second", "[unit]") {
    SimPlan plan;
    plan.limit = "90k/min";
    plan.jobs.resize(180);
    for (auto& job : plan.jobs)
        job.cost = 1500;
    const SimResult result = simulate(plan);
    REQUIRE(result.starts.size() == 180);
    for (std::size_t k = 0; k < 180; ++k) {
        INFO(k);
        const Duration after = result.starts[k].after, exact = std::chrono::seconds{k};
        CHECK(after >= exact);
        // Two jobs may share an entry of the log: a window opens with the later of them.
        CHECK(after <= exact + std::chrono::seconds{k / 60});
        if (k >= 60) CHECK(after - result.starts[k - 60].after >= 1min);
    }
}

TEST_CASE("cost: of different jobs the line is the sum of what stands ahead, exactly", "[unit]") {
    SimPlan plan;
    plan.limit = "7k/10s";
    plan.jobs.resize(60);
    for (std::size_t i = 0; i < plan.jobs.size(); ++i)
        plan.jobs[i].cost = static_cast<std::int64_t>(1 + i * 37 % 200);
    const SimResult result = simulate(plan);
    REQUIRE(result.starts.size() == 60);
    std::int64_t before = 0;
    for (const auto& start : result.starts) {
        CHECK(start.after == Duration{(before * 10'000'000 + 6999) / 7000});
        before += plan.jobs[start.job].cost;
    }
}

TEST_CASE("cost: those who wait are told by the cost of those ahead", "[unit]") {
    Desk desk("60/min", 60s);
    CHECK(say(desk.ask_costing(1, 10)) == "start now");
    CHECK(desk.ask_costing(2, 5).earliest == 10s);
    CHECK(desk.ask_costing(3, 20).earliest == 15s);
    CHECK(desk.ask_costing(4, 1).earliest == 35s);
    CHECK(desk.header().line_cost == 26);
    CHECK(desk.report().waiting.at(1).cost == 20);
    CHECK(desk.report().waiting.at(2).starts_in == 35s);
    CHECK(desk.ask_costing(3, 8).earliest == 15s);  // it thought again
    CHECK(desk.ask_costing(4, 1).earliest == 23s);
    desk.cancel(2);
    CHECK(desk.header().line_cost == 9);
    CHECK(desk.ask_costing(4, 1).earliest == 18s);
    desk.at(10'200ms).peek();  // 3 was told 14.9 s: not late
    CHECK(desk.header().line_cost == 9);
    desk.at(15'001ms).peek();  // now it is
    CHECK(desk.header().line_cost == 1);
}

TEST_CASE("cost: beyond the first 64 the line is estimated by the mean", "[unit]") {
    Desk desk("1000/s", 60s);
    desk.pause(1h);
    for (TicketId place = 1; place <= 200; ++place)
        desk.ask_costing(place, 10);
    const Answer last = desk.ask_costing(200, 10);
    CHECK(last.ahead == 199);
    CHECK(last.earliest == 1h + 1'990ms);
    CHECK(desk.ask_costing(40, 10).earliest == 1h + 390ms);
}

TEST_CASE("cost: the window has room for all of it or for none", "[unit]") {
    Desk desk("10/min,burst=10", 60s);
    CHECK(say(desk.ask_costing(1, 6)) == "start now");
    CHECK(desk.at(1s).ask_costing(2, 5).earliest == 59s);
    CHECK(desk.ask_costing(3, 4).kind == AnswerKind::wait);  // 2 is first
    desk.cancel(2);
    CHECK(say(desk.ask_costing(3, 4)) == "start now");
    CHECK(desk.report().limits.at(0).starts == 10);
    CHECK(desk.report().limits.at(0).remaining == 0);
    desk.at(1min);
    CHECK(say(desk.ask_costing(4, 6)) == "start now");
    CHECK(desk.ask_costing(5, 1).earliest == 1s);
}

TEST_CASE("cost: one that no limit could ever let start is told so", "[unit]") {
    const auto asked = [](const char* limit, std::int64_t cost) {
        Desk desk(limit);
        const Answer answer = desk.ask_costing(1, cost);
        CHECK(desk.records().header().has_value() == (answer.kind == AnswerKind::start));
        return say(answer);
    };
    CHECK(asked("10/s", 10) == "start now");
    CHECK(asked("10/s", 11) == "too costly");
    CHECK(asked("10/s,burst=4", 4) == "start now");
    CHECK(asked("10/s,burst=4", 5) == "too costly");
    CHECK(asked("10/s and 20/min", 10) == "start now");
    CHECK(asked("20/s and 15/min", 16) == "too costly");
    CHECK(asked("20/s and 15/min,burst=3", 4) == "too costly");
    CHECK(asked("3 at once", 1'000'000) == "start now");
    Desk registered("100/s");
    registered.set_registered("5/s");
    CHECK(say(registered.ask_costing(1, 6)) == "too costly");
}

TEST_CASE("cost: settled for less, the rest is free at once", "[unit]") {
    Desk desk = settling("10/min,burst=10");
    CHECK(desk.ask_costing(1, 8).leased);
    const LeaseId id = desk.last_id();
    CHECK(desk.at(5s).ask_costing(2, 5).earliest == 55s);
    const SettleAnswer settled = desk.settle(id, 3);
    CHECK(say(settled.state) == "held");
    CHECK(settled.cost_before == 8);
    CHECK(desk.report().limits.at(0).starts == 3);
    CHECK(say(desk.ask_costing(2, 5)) == "start now");
    CHECK(desk.ask_costing(3, 3).earliest == 55s);  // two are left
    CHECK(desk.settle(id, 1).cost_before == 3);     // once more
    CHECK(desk.settle(id, 1).cost_before == 1);
    CHECK(desk.report().limits.at(0).starts == 6);
    CHECK(say(desk.ask_costing(3, 3)) == "start now");
    CHECK(desk.settle(id, 0).cost_before == 1);
    CHECK(desk.report().limits.at(0).starts == 8);
    CHECK(say(desk.settle(id + 99, 5).state) == "unknown");
}

TEST_CASE("cost: settled for more, the others wait for it", "[unit]") {
    Desk desk = settling("10/min,burst=10");
    desk.ask_costing(1, 2);
    const LeaseId id = desk.last_id();
    desk.at(20s).ask_costing(2, 1);
    CHECK(desk.at(30s).settle(id, 9).cost_before == 2);
    CHECK(desk.report().limits.at(0).starts == 10);
    CHECK(desk.peek().earliest == 30s);  // as if it had cost nine when it started
    CHECK(desk.settle(id, 0).cost_before == 9);
    CHECK(desk.report().limits.at(0).starts == 1);
    CHECK(desk.settle(id, 12).cost_before == 0);
    CHECK(desk.report().limits.at(0).starts == 13);
    CHECK(desk.peek().earliest == 30s);
    CHECK(desk.settle(id, 2).cost_before == 12);
    CHECK(say(desk.ask_costing(3, 7)) == "start now");
}

TEST_CASE("cost: so much charged that it pushes others out of the log is not taken back before they are over",
          "[unit]") {
    Desk desk = settling("10/min,burst=10");
    desk.ask_costing(1, 9);
    const LeaseId first = desk.last_id();
    desk.at(20s).ask_costing(2, 1);
    const LeaseId second = desk.last_id();
    desk.settle(second, 1000);
    CHECK(desk.settle(second, 1).cost_before == 1000);  // but now nobody knows of the nine
    CHECK(desk.settle(first, 9).cost_before == 9);
    CHECK(desk.report().limits.at(0).remaining == 0);
    CHECK(desk.at(59'899ms).ask(3).kind == AnswerKind::wait);
    CHECK(desk.at(79'899ms).ask(3).kind == AnswerKind::wait);
    CHECK(desk.at(80s).ask(3).kind == AnswerKind::start);
}

TEST_CASE("cost: settled, the slots are given back or charged, too", "[unit]") {
    Desk desk = settling("60/min");
    desk.ask_costing(1, 30);
    const LeaseId id = desk.last_id();
    CHECK(desk.peek().earliest == 30s);
    desk.at(10s).settle(id, 12);
    CHECK(desk.peek().earliest == 2s);
    desk.settle(id, 20);
    CHECK(desk.peek().earliest == 10s);
    desk.settle(id, 5);
    CHECK(say(desk.ask(2)) == "start now");
    CHECK(desk.peek().earliest == 1s);
}

TEST_CASE("cost: an attempt whose lease ran out is settled all the same", "[unit]") {
    Desk desk = settling("10/h,burst=10");
    desk.usual().lock_for = 30s;
    desk.ask_costing(1, 8);
    const LeaseId id = desk.last_id();
    const SettleAnswer settled = desk.at(1min).settle(id, 2);
    CHECK(say(settled.state) == "lost");
    CHECK(settled.cost_before == 8);
    CHECK(say(desk.ask_costing(2, 8)) == "start now");
}

TEST_CASE("cost: whatever is settled in whatever order, a window is exact and never over", "[unit]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::int64_t n) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
        };
        const bool upwards = seed % 2 == 0, coarse = seed % 3 == 0;
        const Rate limit = rate(coarse ? "10000/10s,burst=10000" : "50/10s,burst=50");
        const std::int64_t scale = limit.allow() / 50;
        Desk desk = settling(limit.text());
        Ledger ledger;
        for (int step = 0; step < 400; ++step) {
            desk.after(Duration{below(4) == 0 ? below(1'500'000) : below(20'000)});
            const std::int64_t cost = 1 + below(12 * scale);
            if (ledger.size() > 0 && below(3) == 0) {
                const auto entry = static_cast<std::size_t>(below(static_cast<std::int64_t>(ledger.size())));
                const std::int64_t changed = upwards ? cost : below(ledger.cost(entry) + 1);
                const SettleAnswer settled = desk.settle(ledger.id(entry), changed);
                REQUIRE(settled.cost_before == ledger.cost(entry));
                ledger.cost(entry) = changed;
                continue;
            }
            Question question = desk.question(1);
            question.cost = cost;
            question.taking = Taking::start;
            const Answer answer = desk.ask(question);
            const std::int64_t at = desk.now_us() + answer.wait.count();
            const std::int64_t window = ledger.after(desk.now_us() - limit.period().count());
            INFO("seed " << seed << ", step " << step << ": " << say(answer) << ", cost " << cost
                         << " beside " << window);
            if (answer.kind == AnswerKind::start) {
                ledger.add(question.id, at, cost);
                REQUIRE(ledger.after(at - limit.period().count()) <= limit.allow());
            } else if (!upwards && !coarse) {
                REQUIRE(window + cost > limit.allow());
            }
        }
        REQUIRE(ledger.size() > 50);
    }
}

TEST_CASE("cost: a start that another key refused after all is as if it had not been", "[unit]") {
    Desk desk("60/min, 1 at once", 60s);
    desk.ask(1);
    desk.release(desk.last_id());
    desk.at(100ms).ask_costing(2, 20);
    desk.at(1s).ask_costing(3, 3);  // number 2
    const Answer taken = desk.ask_costing(2, 20);
    REQUIRE(taken.kind == AnswerKind::start);
    const StartId id = desk.last_id();
    CHECK(desk.header().places == 1);
    GiveBack given;
    given.id = id;
    given.cost = 20;
    given.place = 2;
    given.number = taken.number;
    given.waited = taken.waited;
    CHECK(desk.give_back(given));
    CHECK_FALSE(desk.give_back(given));  // once
    CHECK(desk.header().places == 0);
    CHECK(desk.header().leases == 0);
    CHECK(desk.report().limits.at(0).starts == 1);
    CHECK(desk.place_of(2) == Place::away);
    CHECK(desk.records().ticket(2)->number == taken.number);
    CHECK(say(desk.ask_costing(3, 3)) == "start now");  // it holds nobody up
    CHECK(desk.ask_costing(2, 20).number == taken.number);
    CHECK(desk.ask_again(2, id).kind == AnswerKind::wait);  // its id is not known any more
}
