// SPDX-License-Identifier: MIT
// What every store does alike: waiting for a lease, in line and with wake-ups. contract.md section 4.
#include <map>

#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;

// Which of those who wait have been offered a place, in the order of the line.
std::vector<TicketId> offered(Counter& c) {
    std::vector<TicketId> places;
    for (const auto& waiter : c.report().waiting) {
        if (waiter.offered) places.push_back(waiter.id);
    }
    return places;
}

using Places = std::vector<TicketId>;

}  // namespace

TEST_CASE("store: the first four who wait for a lease have wake-ups", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.start(1);
        TicketId place = 2;
        for (const std::int64_t wake : {1, 2, 3, 4, 0, 0}) {
            const Answer answer = c.ask(place++);
            CHECK(answer.why == WaitCause::lease);
            CHECK(answer.wake == wake);
            CHECK(answer.number == static_cast<std::int64_t>(place) - 2);
            CHECK(answer.wait > 0s);
            CHECK(answer.wait <= 2s);
        }
        c.cancel(3);  // its wake-up goes to whoever asks first and is among the four now
        CHECK(c.ask(7).wake == 0);
        CHECK(c.ask(6).wake == 2);
        CHECK(c.ask(5).wake == 4);
        CHECK(c.ask(4).wake == 3);
        CHECK(c.ask_as_caller(2).wake == 0);  // a caller listens to nothing
        CHECK(c.ask(7).wake == 0);            // the fifth in line still
    });
}

TEST_CASE("store: places that become free go to those who wait, in their order", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        LeaseId holds = c.start(1);
        for (TicketId place = 2; place <= 7; ++place)
            c.ask(place);
        for (TicketId place = 2; place <= 7; ++place) {
            c.after(1ms).release(holds);
            CHECK(offered(c) == Places{place});
            CHECK(c.ask(9).kind == AnswerKind::wait);  // a newcomer, and the last in line
            if (place < 7) CHECK(c.ask(7).kind == AnswerKind::wait);
            holds = c.start(place);
            for (TicketId behind = place + 1; behind <= 7; ++behind)
                CHECK((c.ask(behind).wake > 0) == (behind <= place + 4));
        }
    });
}

TEST_CASE("store: as many are offered a place as there are", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("3 at once");
        std::vector<LeaseId> held;
        for (TicketId place = 1; place <= 3; ++place)
            held.push_back(c.start(place));
        for (TicketId place = 4; place <= 7; ++place)
            c.ask(place);
        c.release(held[0]);
        CHECK(offered(c) == Places{4});
        c.release(held[1]);
        CHECK(offered(c) == Places{4, 5});
        CHECK(say(c.ask(5)) == "start now");  // there is room for the one before it, too
        CHECK(c.ask(6).kind == AnswerKind::wait);
        c.cancel(4);  // the place goes on
        CHECK(offered(c) == Places{6});
        c.release_leases(false);
        CHECK(offered(c) == Places{6, 7});
    });
}

TEST_CASE("store: an offer that is not taken goes on, and who let it pass steps out", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        const LeaseId holds = c.start(1);
        c.ask(2);
        std::map<TicketId, Duration> watching = {{3, c.ask(3).wait}, {4, c.ask(4).wait}};
        c.release(holds);
        CHECK(offered(c) == Places{2});
        for (auto& [place, told] : watching) {
            while (told < 500ms + k_late) {
                const Answer answer = c.at(told).ask(place);
                CHECK(answer.kind == AnswerKind::wait);
                told += answer.wait;
            }
        }
        CHECK(c.at(500ms + k_late).report().waiting.at(0).id == 2);
        c.after(1us);
        c.cancel(999);  // any call sees to it
        const KeyReport report = c.report();
        REQUIRE(report.waiting.size() == 3);
        CHECK(report.waiting[0].id == 3);
        CHECK(report.waiting[0].offered);
        CHECK(report.waiting[0].asks_in == 500ms);
        CHECK(report.waiting[2].id == 2);
        CHECK(report.waiting[2].place == Place::out);
        SECTION("and is taken by the next") {
            CHECK(say(c.at(700ms).ask(3)) == "start now");
            const Answer late = c.ask(2);
            CHECK(late.ahead == 0);  // judged by its number again
            CHECK(late.wake > 0);
            CHECK(c.ask(4).ahead == 1);
        }
        SECTION("unless who let it pass comes after all") {
            CHECK(say(c.at(700ms).ask(2)) == "start now");
            CHECK(c.ask(3).kind == AnswerKind::wait);
            CHECK(offered(c).empty());
        }
    });
}

TEST_CASE("store: a lease that runs out is offered like one that is released", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().lock_for = 300ms;
        c.start(1);
        CHECK(c.ask(2).wait <= 300ms + 1us);
        c.ask(3);
        c.at(300ms + 1us).cancel(999);
        CHECK(offered(c) == Places{2});
        CHECK(say(c.ask(2)) == "start now");
    });
}

TEST_CASE("store: a question that is refused costs nobody a place in line nor a wake-up", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/s, 1 at once");
        const LeaseId holds = c.start(1);
        CHECK(c.at(600ms).ask(2).wake == 1);
        CHECK(say(c.ask_costing(2, 3)) == "too costly");
        c.no_limit(false);
        CHECK(say(c.ask(2)) == "no limit");
        c.limit("2/s, 1 at once");
        c.usual().ancestors = {holds};
        CHECK(say(c.ask(2)) == "nested");
        c.usual().ancestors.clear();
        c.release(holds);
        CHECK(offered(c) == Places{2});
        CHECK(c.ask(3).kind == AnswerKind::wait);
        CHECK(say(c.ask(2)) == "start now");
    });
}

TEST_CASE("store: a pause holds those who wait for a lease, and they follow it at a pace", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("5 at once");
        for (TicketId place = 1; place <= 5; ++place)
            c.start(place);
        c.ask(6);
        c.ask_as_caller(7);
        c.pause(1s);
        c.release_leases(false);
        CHECK(offered(c).empty());
        CHECK(c.ask_as_caller(6).why == WaitCause::paused);
        c.at(1s);
        CHECK(say(c.ask(6)) == "start now");
        CHECK(say(c.ask(7)) == "start in 100ms");  // ten a second
    });
}

TEST_CASE("store: a changed concurrency works at the next question and is told", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("3 at once");
        std::vector<LeaseId> held;
        for (TicketId place = 1; place <= 3; ++place)
            held.push_back(c.start(place));
        c.limit("2 at once");
        CHECK(c.peek().other == testing::terms("3 at once"));
        CHECK(c.ask(4).places == 3);
        c.release(held[0]);
        CHECK(c.ask(4).kind == AnswerKind::wait);
        c.limit("3 at once");
        CHECK(say(c.ask(4)) == "start now");
        c.limit("8/s");  // asks for no place: those in use are no matter
        const Answer free = c.after(1s).ask(5);
        CHECK(say(free) == "start now");
        CHECK_FALSE(free.leased);
        CHECK(free.places == 3);
    });
}

TEST_CASE("store: where enough wait already a newcomer takes no place", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().max_waiting = 2;
        const LeaseId holds = c.start(1);
        CHECK(c.ask(2).kind == AnswerKind::wait);
        CHECK(c.ask(3).kind == AnswerKind::wait);
        const Answer crowded = c.ask(4);
        CHECK(say(crowded) == "crowded");
        CHECK(crowded.waiting == 2);
        CHECK(crowded.number == 0);
        CHECK(c.report().waiting.size() == 2);
        CHECK(c.ask(3).kind == AnswerKind::wait);  // it has its place
        CHECK(c.start_or_nothing().kind == AnswerKind::wait);
        c.cancel(3);
        CHECK(c.ask(4).kind == AnswerKind::wait);
        c.cancel(2);
        c.cancel(4);
        c.release(holds);
        c.usual().max_waiting = 0;
        CHECK(say(c.ask(5)) == "start now");
        CHECK(say(c.ask(6)) == "crowded");
        CHECK(c.report().waiting.empty());
    });
}

TEST_CASE("store: those far back ask as often as places become free", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        const LeaseId holds = c.start(1);
        for (TicketId place = 2; place <= 40; ++place)
            c.ask(place);
        const Duration far = c.ask(40).wait, farther = c.ask(41).wait;
        CHECK(c.ask(8).wait <= far);
        CHECK(far <= farther);
        c.after(50ms).release(holds);  // that is slow
        c.start(2);
        CHECK(c.ask(40).wait > far);
        CHECK(c.ask(40).wait <= 2s);
        CHECK(c.ask(8).wait < c.ask(40).wait);
    });
}

}  // namespace jobthrottle::test
