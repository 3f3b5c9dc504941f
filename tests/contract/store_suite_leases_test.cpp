// SPDX-License-Identifier: MIT
// What every store does alike: leases, from their start to their end. contract.md section 4.
#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;
using testing::terms;

}  // namespace

TEST_CASE("store: at most C hold a place, and a release makes room", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2 at once");
        const Answer started = c.ask(1);
        CHECK(say(started) == "start now");
        CHECK(started.leased);
        CHECK(started.places == 1);
        const LeaseId first = c.last_id(), second = c.start(2);
        const Answer held = c.ask(3);
        CHECK(held.kind == AnswerKind::wait);
        CHECK(held.why == WaitCause::lease);
        CHECK_FALSE(held.leased);
        CHECK(held.places == 2);
        CHECK(held.waiting == 1);
        CHECK(held.terms == terms("2 at once"));
        CHECK(c.start_or_nothing().kind == AnswerKind::wait);
        CHECK(c.release(first).state == LeaseState::held);
        CHECK(c.release(first).state == LeaseState::unknown);
        CHECK(c.release(12345).state == LeaseState::unknown);
        CHECK(c.report().places == 1);
        CHECK(say(c.ask(3)) == "start now");
        CHECK(c.ask(4).kind == AnswerKind::wait);
        CHECK(c.release(second).state == LeaseState::held);
        CHECK(say(c.ask(4)) == "start now");
        CHECK(c.report().started == 4);
    });
}

TEST_CASE("store: a rate and a concurrency are kept both", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/s, 2 at once");
        const LeaseId first = c.start(1);
        CHECK(say(c.ask(2)) == "come back in 400ms");
        CHECK(c.peek(2).why == WaitCause::rate);
        CHECK(say(c.at(450ms).ask(2)) == "start in 50ms");
        CHECK(c.report().holding.size() == 2);
        c.at(1'100ms);
        CHECK(c.ask(3).why == WaitCause::lease);  // its slot is due
        c.release(first);
        CHECK(say(c.ask(3)) == "start now");
        CHECK(c.ask(4).why == WaitCause::rate);
    });
}

TEST_CASE("store: a question asked again after a start has the same lease", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2 at once");
        const LeaseId id = c.start(1);
        for (int i = 0; i < 3; ++i) {
            const Answer again = c.ask_again(1, id);
            CHECK(say(again) == "start now");
            CHECK(again.leased);
            CHECK(again.places == 1);
        }
        c.release(id);
        CHECK_FALSE(c.ask_again(1, id).leased);
        CHECK(c.report().started == 1);
    });
}

TEST_CASE("store: a renewed lease lasts, one that nobody renews runs out", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().lock_for = 10s;
        const LeaseId id = c.start(1);
        CHECK(c.at(9s).renew(id).state == LeaseState::held);
        CHECK(c.report().holding.at(0).left == 10s);
        CHECK(c.at(19s).renew(id, 2s).state == LeaseState::held);  // to the last moment, and shorter now
        CHECK(c.report().holding.at(0).left == 2s);
        CHECK(c.at(20s).renew(id).state == LeaseState::held);
        CHECK(c.report().holding.at(0).left == 2s);
        CHECK(c.at(22s).ask(2).kind == AnswerKind::wait);
        CHECK(c.report().holding.at(0).held);
        CHECK(say(c.after(1us).ask(2)) == "start now");
        const KeyReport report = c.report();
        CHECK(report.places == 1);
        REQUIRE(report.holding.size() == 2);
        CHECK(report.holding[0].id == id);
        CHECK_FALSE(report.holding[0].held);
        CHECK(report.holding[0].left == -1us);
        CHECK(report.holding[1].held);
    });
}

TEST_CASE("store: a lease that ran out is lost where others took the place, and since when is told",
          "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().lock_for = 10s;
        const LeaseId lost = c.start(1), holds = (c.at(11s), c.start(2));
        const LeaseAnswer renewed = c.at(13s).renew(lost);
        CHECK(renewed.state == LeaseState::lost);
        CHECK(renewed.lost_for == 3s);
        CHECK(c.renew(holds, 1h).state == LeaseState::held);
        const LeaseAnswer released = c.at(10s + 10min).release(lost);
        CHECK(released.state == LeaseState::lost);
        CHECK(released.lost_for == 10min);
        CHECK(c.release(lost).state == LeaseState::unknown);
        CHECK(c.report().places == 1);
    });
}

TEST_CASE("store: a lease that ran out is taken again where there is room", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().lock_for = 10s;
        const LeaseId id = c.start(1);
        const LeaseAnswer renewed = c.at(15s).renew(id);
        CHECK(renewed.state == LeaseState::retaken);
        CHECK(renewed.lost_for == 5s);
        CHECK(c.report().places == 1);
        CHECK(c.report().holding.at(0).left == 10s);
        CHECK(c.ask(2).kind == AnswerKind::wait);
        CHECK(c.release(id).state == LeaseState::held);
    });
}

TEST_CASE("store: a lost lease is remembered for ten minutes", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/d, 1 at once");  // the state outlives it
        c.usual().lock_for = 10s;
        const LeaseId id = c.start(1);
        CHECK(c.at(10s + 10min).report().holding.size() == 1);
        CHECK(c.after(1us).report().holding.empty());
        CHECK(c.renew(id).state == LeaseState::unknown);
        CHECK(c.report().started == 1);
    });
}

TEST_CASE("store: who holds is reported, by start", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s, 3 at once");
        c.usual().lock_for = 30s;
        const LeaseId first = c.start(1);
        Question costly = c.question(2);
        costly.cost = 2;
        costly.who.assign(200, 'x');
        CHECK(say(c.at(1s).ask(costly)) == "start now");
        c.at(4s).renew(first);
        const KeyReport report = c.at(5s).report();
        CHECK(report.terms == terms("8/s, 3 at once"));
        CHECK(report.places == 2);
        REQUIRE(report.holding.size() == 2);
        const Holder &older = report.holding[0], &younger = report.holding[1];
        CHECK(older.id == first);
        CHECK(older.place);
        CHECK(older.held);
        CHECK(older.age == 5s);
        CHECK(older.left == 29s);
        CHECK(older.renewed == 1s);
        CHECK(older.cost == 1);
        CHECK(older.who == "job 1");
        CHECK(younger.id == costly.id);
        CHECK(younger.age == 4s);
        CHECK(younger.left == 26s);
        CHECK(younger.renewed == 4s);
        CHECK(younger.cost == 2);
        CHECK(younger.who == std::string(160, 'x'));
        CHECK(text_of(c.report()) == text_of(report));
        CHECK(text_of(sure(c.store().keys("k")).at(0).report) == text_of(report));
    });
}

TEST_CASE("store: all leases are released at once; of those of the dead none is known", "[contract]") {
    in_every_store([](Counter& c) {
        CHECK(c.release_leases(false).empty());
        CHECK_FALSE(c.report().known);
        c.limit("3 at once");
        c.usual().lock_for = 10s;
        const LeaseId runs_out = c.start(1);
        c.at(5s);
        const LeaseId first = c.start(2), second = c.start(3);
        c.at(12s);
        CHECK(c.release_leases(true).empty());
        CHECK(c.report().places == 2);
        CHECK(c.renew(runs_out).state == LeaseState::unknown);  // one that ran out was cleared away
        const auto released = c.release_leases(false);
        REQUIRE(released.size() == 2);
        CHECK(released[0].id == first);
        CHECK(released[0].age == 7s);
        CHECK(released[0].left == 3s);
        CHECK(released[0].who == "job 2");
        CHECK(released[1].id == second);
        CHECK(c.report().holding.empty());
        CHECK(c.release(first).state == LeaseState::unknown);
        CHECK(c.release_leases(false).empty());
        for (TicketId place = 4; place <= 6; ++place)
            c.start(place);
    });
}

TEST_CASE("store: many leases are released at once", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("150 at once");
        for (TicketId place = 1; place <= 150; ++place)
            c.start(place);
        CHECK(c.ask(151).places == 150);
        c.at(61s);  // sixteen of them run out at each look
        CHECK(c.ask(151).kind == AnswerKind::start);
        CHECK(c.report().places <= 135);
        c.release_leases(false);
        CHECK(c.report().places == 0);
        CHECK(c.report().holding.empty());
    });
}

TEST_CASE("store: times of leases are the key's, whose clock never goes back", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2 at once");
        c.usual().lock_for = 10s;
        const LeaseId first = c.start(1);
        c.at(6s).peek();
        c.at(6s - 1h);
        CHECK(c.report().holding.at(0).left == 4s);
        const LeaseId second = c.start(2);
        CHECK(c.after(3s).renew(first).state == LeaseState::held);
        const auto released = c.after(4s).release_leases(false);
        REQUIRE(released.size() == 2);
        CHECK(released[0].id == second);
        CHECK(released[0].age == 7s);
        CHECK(released[0].left == 3s);
        CHECK(released[1].left == 6s);
    });
}

TEST_CASE("store: a run inside a run that holds a place of the key is told so", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("5 at once");
        const LeaseId holds = c.start(1);
        c.usual().ancestors = {777, holds};
        CHECK(say(c.ask(2)) == "nested");
        CHECK(say(c.peek()) == "nested");
        CHECK(c.report().waiting.empty());
        c.key("other");
        CHECK(say(c.ask(2)) == "start now");
        c.key("k");
        c.release(holds);
        CHECK(say(c.ask(2)) == "start now");
        c.key("accounts");
        c.limit("8/s");
        c.usual().settles = true;
        const LeaseId accounted = c.start(3);
        c.usual().ancestors = {accounted};  // it waits for no place
        CHECK(say(c.ask(4)) == "come back in 25ms");
    });
}

}  // namespace jobthrottle::test
