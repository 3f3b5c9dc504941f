// SPDX-License-Identifier: MIT
// Wake-ups and offers: who waits for a place is told when there is one. contract.md section 4.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

using Woken = std::vector<TicketId>;

LeaseId started(Desk& desk, TicketId place) {
    REQUIRE(desk.ask(place).kind == AnswerKind::start);
    return desk.last_id();
}

// So many places in use, and so many in line from place 11 on.
std::vector<LeaseId> full(Desk& desk, std::size_t holding, TicketId waiting) {
    std::vector<LeaseId> held;
    for (TicketId place = 1; place <= holding; ++place)
        held.push_back(started(desk, place));
    for (TicketId place = 11; place < 11 + waiting; ++place)
        REQUIRE(desk.ask(place).kind == AnswerKind::wait);
    return held;
}

std::int64_t wake_of(Desk& desk, TicketId place) {
    return desk.records().ticket(place).value().wake;
}

}  // namespace

TEST_CASE("wake: the first four in line have one each, told with the answer", "[unit]") {
    Desk desk("1 at once");
    full(desk, 1, 0);
    for (TicketId place = 11; place <= 14; ++place)
        CHECK(desk.ask(place).wake == static_cast<std::int64_t>(place) - 10);
    CHECK(desk.ask(15).wake == 0);
    CHECK(desk.header().wakes == 15);
    CHECK(desk.ask(12).wake == 2);  // the same again
    desk.cancel(12);
    CHECK(desk.header().wakes == 13);
    CHECK(desk.ask(15).wake == 2);
    CHECK(desk.ask(16).wake == 0);
    CHECK(desk.ask_as_caller(17).wake == 0);
}

TEST_CASE("wake: who waits for a rate, or in a pause, has none", "[unit]") {
    Desk desk("1/s, 1 at once", 60s);
    full(desk, 1, 0);
    CHECK(desk.ask(11).wake == 0);
    CHECK(desk.at(950ms).ask(11).wake == 1);
    desk.pause(10s);
    CHECK(desk.ask(11).wake == 0);
    CHECK(desk.header().wakes == 0);
}

TEST_CASE("wake: what became free in a pause is offered when it is resumed", "[unit]") {
    Desk desk("1 at once", 60s);
    const auto held = full(desk, 1, 2);
    desk.pause_for_ever();
    desk.release(held[0]);
    CHECK(desk.woken().empty());
    desk.resume();
    CHECK(desk.woken() == Woken{11});
    CHECK(say(desk.ask(11)) == "start in 100ms");  // paced after a pause
    desk.pause_for_ever();
    desk.resume();
    CHECK(desk.woken().empty());  // nothing is free
}

TEST_CASE("wake: a release wakes as many as there is room for, the first ones", "[unit]") {
    Desk desk("3 at once");
    const auto held = full(desk, 3, 5);
    CHECK(desk.woken().empty());
    desk.release(held[0]);
    CHECK(desk.woken() == Woken{11});
    CHECK(desk.report().waiting.at(0).offered);
    CHECK_FALSE(desk.report().waiting.at(1).offered);
    desk.peek();
    CHECK(desk.woken().empty());  // once
    desk.release(held[1]);
    CHECK(desk.woken() == Woken{12});
    CHECK(desk.ask(13).kind == AnswerKind::wait);  // both places are for those who were woken
    CHECK(say(desk.ask(12)) == "start now");       // 11 has its own
    CHECK(desk.woken().empty());
    CHECK(say(desk.ask(11)) == "start now");
    CHECK(desk.woken().empty());
    desk.release_leases(false);
    CHECK(desk.woken() == Woken{13, 14});  // 15 has no wake-up
    CHECK(say(desk.ask(13)) == "start now");
}

TEST_CASE("wake: a start with more room behind it wakes the next", "[unit]") {
    Desk desk("2 at once");
    const auto held = full(desk, 2, 6);
    desk.ask(15);
    for (const LeaseId id : held)
        desk.release(id);
    CHECK(desk.woken() == Woken{11, 12});
    desk.cancel(11);
    CHECK(desk.woken() == Woken{13});
    CHECK(say(desk.ask(12)) == "start now");
    CHECK(say(desk.ask(13)) == "start now");
    CHECK(desk.ask(15).wake != 0);
}

TEST_CASE("wake: an offer that is not taken goes on after half a second, and its ticket steps out",
          "[unit]") {
    Desk desk("1 at once");
    const auto held = full(desk, 1, 3);
    desk.release(held[0]);
    CHECK(desk.woken() == Woken{11});
    CHECK(desk.at(340ms).ask(12).kind == AnswerKind::wait);
    CHECK(desk.at(600ms).peek().kind == AnswerKind::wait);
    CHECK(desk.place_of(11) == Place::in_line);
    CHECK(desk.woken().empty());
    desk.after(1us).peek();
    CHECK(desk.place_of(11) == Place::out);
    CHECK(desk.woken() == Woken{12});
    CHECK(desk.header().wakes == 6);
    // Back again it has its number, and the next place.
    const Answer back = desk.ask(11);
    CHECK(back.number == 1);
    CHECK(say(back) == "start now");
    CHECK(desk.ask(12).kind == AnswerKind::wait);
}

TEST_CASE("wake: whoever watches takes the place that another let pass", "[unit]") {
    Desk desk("1 at once");
    const auto held = full(desk, 1, 4);
    desk.release(held[0]);
    // The next ones look each 350, 700, 1050 ms.
    CHECK(desk.ask(12).wait == 350ms);
    CHECK(desk.ask(13).wait == 700ms);
    CHECK(desk.ask(14).wait == 1'050ms);
    CHECK(desk.at(350ms).ask(12).wait == 350ms);
    CHECK(say(desk.at(700ms).ask(12)) == "start now");
}

TEST_CASE("wake: who is surely dead is taken out of the line at once, and the next is woken", "[unit]") {
    Desk desk("1 at once");
    const auto held = full(desk, 1, 4);
    desk.records().know_dead([](TicketId place) { return place == 11 || place == 12; });
    desk.release(held[0]);
    CHECK(desk.woken() == Woken{13});
    CHECK_FALSE(desk.place_of(11).has_value());
    CHECK_FALSE(desk.place_of(12).has_value());
    CHECK(desk.header().in_line == 2);
    CHECK(say(desk.ask(13)) == "start now");
}

TEST_CASE("wake: a lease that runs out, or whose holder has died, makes room, too", "[unit]") {
    Desk desk("1 at once");
    full(desk, 1, 1);
    desk.at(59s);
    CHECK(desk.ask(11).wait == 1s + 1us);  // when the lease is over
    CHECK(desk.ask(12).kind == AnswerKind::wait);
    desk.at(60s + 1us).peek();
    CHECK(desk.woken() == Woken{11});

    Desk seen("1 at once");
    full(seen, 1, 6);
    seen.records().know_life([](const Lease&) { return HolderLife::dead; });
    CHECK(seen.ask(16).kind == AnswerKind::wait);  // far back nobody looks for the dead
    CHECK(seen.woken().empty());
    CHECK(seen.ask(13).kind == AnswerKind::wait);
    CHECK(seen.woken() == Woken{11});
}

TEST_CASE("wake: no place stands empty for those who would learn of it only later", "[unit]") {
    Desk desk("4 at once", 60s);
    const auto held = full(desk, 4, 7);  // 15, 16 and 17 have no wake-up
    desk.at(1ms);
    for (TicketId place = 11; place <= 14; ++place)
        desk.cancel(place);
    CHECK(desk.ask(18).kind == AnswerKind::wait);
    CHECK(desk.ask(17).wake != 0);
    CHECK(wake_of(desk, 15) == 0);
    CHECK(wake_of(desk, 16) == 0);
    desk.release(held[0]);
    CHECK(desk.woken() == Woken{17});
    CHECK(desk.ask(18).kind == AnswerKind::wait);  // 17 is awake
    CHECK(say(desk.ask(17)) == "start now");
    desk.release(held[1]);
    CHECK(desk.woken() == Woken{18});
    CHECK(say(desk.ask(15)) == "start now");  // it was sooner
    CHECK(desk.ask(18).kind == AnswerKind::wait);
    CHECK(desk.ask(16).wake != 0);
    desk.release(held[2]);
    CHECK(desk.woken() == Woken{16});
}

TEST_CASE("wake: a caller cannot be woken, and is waited for", "[unit]") {
    Desk desk("1 at once");
    const auto held = full(desk, 1, 0);
    CHECK(desk.ask_as_caller(11).wait == 2s);
    CHECK(desk.ask(12).wake == 1);
    desk.at(1s).release(held[0]);
    CHECK(desk.woken().empty());
    CHECK(desk.ask(12).kind == AnswerKind::wait);
    CHECK(say(desk.at(2s).ask_as_caller(11)) == "start now");

    Desk late("1 at once");
    const LeaseId id = full(late, 1, 0)[0];
    late.ask_as_caller(11);
    late.ask(12);
    late.at(340ms).ask(12);
    late.at(2'050ms).ask(12);
    late.release(id);
    CHECK(late.woken().empty());
    late.at(2'100ms + 1us).peek();  // the caller is late, and its offer goes on
    CHECK(late.woken() == Woken{12});
    CHECK(say(late.ask(12)) == "start now");
    CHECK(late.place_of(11) == Place::away);
}

TEST_CASE("wake: who returns to the head of the line and finds all of them taken looks soon", "[unit]") {
    Desk desk("1 at once");
    const auto held = full(desk, 1, 5);
    desk.at(100ms);
    for (TicketId place = 12; place <= 15; ++place)
        desk.ask(place);
    desk.at(3s).peek();  // all are late; 11 comes back last
    CHECK(desk.header().out == 5);
    for (TicketId place = 12; place <= 15; ++place)
        CHECK(desk.ask(place).wake != 0);
    const Answer head = desk.ask(11);
    CHECK(head.ahead == 0);
    CHECK(head.wake == 0);
    CHECK(head.wait <= 1s);
    CHECK(desk.ask(15).wake == 0);  // it is the fifth now
    CHECK(desk.ask(11).wake != 0);
    desk.release(held[0]);
    CHECK(desk.woken() == Woken{11});
}

TEST_CASE("wake: those far back ask when the places before them will have come free", "[unit]") {
    Desk desk("1 at once", 60s);
    full(desk, 1, 0);
    for (TicketId place = 11; place <= 110; ++place) {
        desk.at(10ms * static_cast<std::int64_t>(place - 10));
        desk.release(desk.last_id());
        started(desk, 2);  // one leaves each ten milliseconds
    }
    CHECK(desk.header().departure_us > 9'000);
    CHECK(desk.header().departure_us <= 10'000);
    for (TicketId place = 11; place < 71; ++place)
        desk.ask(place);
    const Duration apart{desk.header().departure_us};
    CHECK(desk.ask(15).wait == 5ms);             // rank 4
    CHECK(desk.ask(25).wait == 11 * apart / 2);  // rank 14
    CHECK(desk.ask(70).wait == 56 * apart / 2);  // rank 59
    desk.after(1s);                              // nobody has left since
    CHECK(desk.ask(70).wait > 1s);
}
