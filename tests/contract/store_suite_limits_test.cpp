// SPDX-License-Identifier: MIT
// What every store does alike: several limits, costs, counting successes. contract.md sections 1 and 2.
#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::rate;
using testing::say;
using testing::terms;

std::vector<std::int64_t> starts_of(const KeyReport& report) {
    std::vector<std::int64_t> starts;
    for (const auto& limit : report.limits)
        starts.push_back(limit.starts);
    return starts;
}

}  // namespace

TEST_CASE("store: of several limits the shortest T paces and all are kept", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("6/min and 4/s");
        for (TicketId place = 1; place <= 6; ++place)
            CHECK(say(c.at(Duration{250'000 * static_cast<std::int64_t>(place - 1)}).ask(place)) ==
                  "start now");
        CHECK(c.peek().terms == terms("4/s and 6/min"));
        CHECK(c.peek().why == WaitCause::rate);
        const Answer held = c.at(1'500ms).ask_as_caller(7);
        CHECK(held.earliest == 58'500ms);
        CHECK(held.wait == 58'400ms);
        const KeyReport report = c.report();
        REQUIRE(report.limits.size() == 2);
        CHECK(report.limits[0].rate == rate("4/s"));
        CHECK(report.limits[0].starts == 3);  // later than 0.5 s
        CHECK(report.limits[0].remaining == 1);
        CHECK(report.limits[1].rate.allow() == 6);
        CHECK(report.limits[1].starts == 6);
        CHECK(report.limits[1].remaining == 0);
        CHECK(say(c.at(59'900ms).ask(7)) == "start in 100ms");
        CHECK(c.at(60s).ask(8).earliest == 250ms);
    });
}

TEST_CASE("store: a limit that does not pace keeps the burst that it was given", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("10/s and 60/min,burst=2");
        CHECK(say(c.ask(1)) == "start now");
        CHECK(say(c.ask(2)) == "start in 100ms");
        CHECK(say(c.at(100ms).ask(3)) == "come back in 800ms");
        CHECK(say(c.at(900ms).ask(3)) == "start in 100ms");
        c.key("paces alone");
        c.limit("60/min");
        c.ask(1);
        CHECK(c.peek().earliest == 1s);
        c.limit("10/s and 60/min");  // a plain window now
        CHECK(c.peek().earliest == 100ms);
    });
}

TEST_CASE("store: four limits of all sizes each count what they allow", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("3/s, 5000/h, 1000000/d and 8/min");
        for (TicketId place = 1; place <= 8; ++place)
            CHECK(say(c.at(Duration{500'000 * static_cast<std::int64_t>(place)}).ask(place)) == "start now");
        CHECK(c.peek().earliest == 56'500ms);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{8, 2, 8, 8});  // by T: 86 ms, 333 ms ...
        c.limit("3/s, 5000/h, 1000000/d and 8/2min");
        CHECK(c.at(60'500ms).ask_as_caller(9).earliest == 60s);
        c.at(120'500ms);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{8, 0, 8, 7});
    });
}

TEST_CASE("store: a costly start counts as so many, in slots and windows", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("10/s");
        CHECK(say(c.ask_costing(1, 4)) == "start now");
        CHECK(c.peek().earliest == 400ms);
        CHECK(c.ask_costing(2, 3).earliest == 400ms);
        CHECK(c.ask_costing(3, 5).earliest == 700ms);
        const KeyReport report = c.at(300ms).report();
        CHECK(starts_of(report) == std::vector<std::int64_t>{4});
        REQUIRE(report.waiting.size() == 2);
        CHECK(report.waiting[0].cost == 3);
        CHECK(report.waiting[1].cost == 5);
        CHECK(report.started == 1);
        CHECK(say(c.ask_costing(2, 3)) == "start in 100ms");
        CHECK(c.ask_costing(3, 5).earliest == 700ms);  // due in 400 ms, but the window has no room for five
        CHECK(c.ask(9).earliest == 900ms);             // behind those five
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{7});
        CHECK(say(c.at(950ms).ask_costing(3, 5)) == "start in 50ms");
        CHECK(c.report().started == 3);
    });
}

TEST_CASE("store: a cost that could never start is told so and takes nothing", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("10/s");
        CHECK(say(c.ask_costing(1, 11)) == "too costly");
        c.limit("10/s,burst=3");
        CHECK(say(c.ask_costing(1, 4)) == "too costly");
        c.limit("10/s and 6/min");
        CHECK(say(c.ask_costing(1, 7)) == "too costly");
        CHECK_FALSE(c.report().known);
        CHECK(say(c.ask_costing(1, 6)) == "start now");
        c.no_limit(true);
        CHECK(say(c.ask_costing(2, 1'000'000)) == "start now");
    });
}

TEST_CASE("store: a cost is settled by the true one, up and down", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("10/s");
        c.usual().settles = true;
        const Answer answer = c.ask_costing(1, 2);
        CHECK(answer.leased);
        CHECK(answer.places == 0);
        const LeaseId id = c.last_id();
        const SettleAnswer more = c.settle(id, 5);
        CHECK(more.state == LeaseState::held);
        CHECK(more.cost_before == 2);
        CHECK(c.peek().earliest == 500ms);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{5});
        const std::string before = text_of(c.report());
        CHECK(c.settle(id, 5).cost_before == 5);
        CHECK(text_of(c.report()) == before);
        REQUIRE(c.report().holding.size() == 1);
        CHECK(c.report().holding[0].cost == 5);
        CHECK_FALSE(c.report().holding[0].place);
        CHECK(c.settle(id, 0).cost_before == 5);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{0});
        CHECK(say(c.peek()) == "start now");
        c.settle(id, 10);
        CHECK(c.peek().earliest == 1s);
        CHECK(c.settle(777, 3).state == LeaseState::unknown);
        c.release(id);
        CHECK(c.settle(id, 3).state == LeaseState::unknown);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{10});
    });
}

TEST_CASE("store: a cost is settled at the time of its start, also late", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("20/min and 2000/h");
        c.usual().settles = true;
        c.usual().lock_for = 10s;
        const LeaseId first = c.start(1);
        const LeaseId second = (c.at(20s), c.start(2));
        CHECK(c.settle(first, 7).state == LeaseState::lost);  // it ran out after 10 s
        CHECK(c.settle(second, 3).state == LeaseState::held);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{10, 10});
        c.at(60s);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{10, 3});  // those at 0 have left
        CHECK(c.settle(first, 0).cost_before == 7);
        c.at(60s);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{3, 3});
    });
}

TEST_CASE("store: where successes count, a failure gives its start back", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/h");
        c.usual().count_successes = true;
        const LeaseId first = c.start(1), second = c.start(2);  // a plain window: both at once
        CHECK(c.ask(3).terms == terms("2/h,burst=2"));
        CHECK(c.ask(3).kind == AnswerKind::wait);
        c.after(1min);
        CHECK(c.fail(first).state == LeaseState::held);
        CHECK(say(c.ask(3)) == "start now");
        const LeaseId third = c.last_id();
        CHECK(c.fail(first).state == LeaseState::unknown);  // nothing is given back twice
        c.release(second);
        c.release(third);
        const Answer full = c.ask_as_caller(4);
        CHECK(full.why == WaitCause::rate);
        CHECK(full.earliest == 59min);
        CHECK(starts_of(c.report()) == std::vector<std::int64_t>{2});
        CHECK(c.report().started == 3);
    });
}

TEST_CASE("store: where successes count, who is due is woken by a failure", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/h");
        c.usual().count_successes = true;
        c.usual().lock_for = 1h;
        const LeaseId first = c.start(1);
        c.start(2);
        const Answer held = c.at(40min).ask(3);
        CHECK(held.why == WaitCause::lease);
        CHECK(held.wake == 1);
        CHECK_FALSE(c.report().waiting.at(0).offered);
        c.fail(first);
        CHECK(c.report().waiting.at(0).offered);
        CHECK(say(c.ask(3)) == "start now");
    });
}

TEST_CASE("store: where successes count, one under way counts however long it takes", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/h");
        c.usual().count_successes = true;
        c.usual().lock_for = 5h;
        const LeaseId first = c.start(1), second = c.start(2);
        c.at(2h);
        CHECK(c.ask(3).why == WaitCause::lease);
        c.cancel(3);
        c.release(first);  // it succeeded, but it started long ago
        CHECK(say(c.ask(3)) == "start now");
        CHECK(c.ask(4).why == WaitCause::lease);
        c.fail(second);
        CHECK(say(c.ask(4)) == "start now");
    });
}

TEST_CASE("store: where successes count, the start of a lease that ran out is given back as well",
          "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/h");
        c.usual().count_successes = true;
        c.usual().lock_for = 1s;
        const LeaseId id = c.start(1);
        CHECK(c.at(5s).peek().kind == AnswerKind::wait);
        const LeaseAnswer failed = c.fail(id);
        CHECK(failed.state == LeaseState::lost);
        CHECK(failed.lost_for == 4s);
        CHECK(say(c.ask(2)) == "start now");
    });
}

}  // namespace jobthrottle::test
