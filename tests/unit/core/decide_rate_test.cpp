// SPDX-License-Identifier: MIT
// When a job may start: slots, window, burst, late slots, grants. contract.md section 2.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

TEST_CASE("decide: an idle key lets one start at once, then one every T", "[unit]") {
    Desk desk("8/s");
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(say(desk.ask(2)) == "come back in 25ms");  // due in 125 ms, granted 100 ms ahead
    CHECK(say(desk.ask(3)) == "come back in 150ms");
    CHECK(say(desk.at(25ms).ask(2)) == "start in 100ms");
    CHECK(say(desk.at(150ms).ask(3)) == "start in 100ms");
    CHECK(say(desk.at(375ms).ask(4)) == "start now");
}

TEST_CASE("decide: a runner that is late within its grant still starts on its slot", "[unit]") {
    Desk desk("8/s");
    desk.ask(1);
    desk.ask(2);
    CHECK(say(desk.at(115ms).ask(2)) == "start in 10ms");
    desk.at(115ms).ask(3);
    CHECK(say(desk.at(230ms).ask(3)) == "start in 20ms");  // 250 ms, as if all had been prompt
}

TEST_CASE("decide: a million starts at 7/s lose no part of a microsecond", "[unit]") {
    Desk desk("7/s");
    std::int64_t last = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        Answer answer = desk.ask(1);
        if (answer.kind == AnswerKind::wait) answer = desk.after(answer.wait).ask(1);
        if (answer.kind != AnswerKind::start) FAIL("start " << i << ": " << say(answer));
        last = desk.now_us() + answer.wait.count();
        desk.after(answer.wait);
    }
    CHECK(last - Desk::k_begin_us == (999'999 * std::int64_t{1'000'000} + 6) / 7);
}

TEST_CASE("decide: an hour of idleness is not saved up", "[unit]") {
    Desk desk("8/s");
    desk.ask(1);
    desk.at(1h);
    CHECK(say(desk.ask(2)) == "start now");
    CHECK(say(desk.ask(3)) == "come back in 25ms");
    CHECK(say(desk.ask(4)) == "come back in 150ms");
}

TEST_CASE("decide: idle for less than a period, no slot is saved up either", "[unit]") {
    Desk desk("8/s");
    desk.ask(1);
    desk.at(900ms);
    CHECK(say(desk.ask(2)) == "start now");
    CHECK(say(desk.ask(3)) == "come back in 25ms");
}

TEST_CASE("decide: up to two late slots are made good while others wait, older ones are lost", "[unit]") {
    Desk desk("8/s");
    for (TicketId place = 1; place <= 10; ++place)
        desk.ask(place);
    // 2 to 5 died: the slots of 125, 250, 375 and 500 ms went by unused.
    desk.at(525ms);
    CHECK(say(desk.ask(6)) == "start now");
    CHECK(say(desk.ask(7)) == "start now");
    CHECK(say(desk.ask(8)) == "start now");
    CHECK(say(desk.ask(9)) == "come back in 25ms");
}

TEST_CASE("decide: with nobody behind, late slots are not made good", "[unit]") {
    Desk desk("8/s");
    for (TicketId place = 1; place <= 6; ++place)
        desk.ask(place);
    desk.at(2s);  // all of them came late and stand out of the line
    CHECK(say(desk.ask(6)) == "start now");
    CHECK(say(desk.ask(5)) == "come back in 25ms");
}

TEST_CASE("decide: the window holds where the slots alone would not", "[unit]") {
    // Burst N is a plain window: all at once, then none until the first is a period old.
    Desk desk("5/s,burst=5");
    for (TicketId place = 1; place <= 5; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    CHECK(say(desk.ask(6)) == "come back in 900ms");
    CHECK(say(desk.at(899'999us).ask(6)) == "come back in 1us");
    CHECK(say(desk.at(900ms).ask(6)) == "start in 100ms");
    CHECK(say(desk.at(900ms).ask(7)) == "start in 100ms");  // the second start was at zero as well
}

TEST_CASE("decide: the window is half open, to the microsecond", "[unit]") {
    Desk desk("3/s,burst=3");
    desk.ask(1);
    desk.at(10ms).ask(2);
    desk.at(20ms).ask(3);
    CHECK(say(desk.at(999'999us).ask(4)) == "start in 1us");  // exactly a period after the first
    CHECK(say(desk.ask(5)) == "start in 10ms1us");
}

TEST_CASE("decide: a burst of B starts at once, then one every T", "[unit]") {
    Desk desk("10/s,burst=3");
    for (TicketId place = 1; place <= 3; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    CHECK(say(desk.ask(4)) == "start in 100ms");
    CHECK(say(desk.ask(5)) == "come back in 100ms");
    CHECK(say(desk.at(100ms).ask(5)) == "start in 100ms");
    // Full again after an idle period.
    desk.at(10s);
    for (TicketId place = 6; place <= 8; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    CHECK(say(desk.ask(9)) == "start in 100ms");
}

TEST_CASE("decide: a burst after half an idle period still keeps the window", "[unit]") {
    Desk desk("10/s,burst=10");
    for (TicketId place = 1; place <= 6; ++place)
        desk.ask(place);
    desk.at(500ms);
    for (TicketId place = 7; place <= 10; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    CHECK(say(desk.ask(11)) == "come back in 400ms");
}

TEST_CASE("decide: a burst reaches back before the zero of a young clock", "[unit]") {
    MemoryRecords records;
    for (TicketId place = 1; place <= 3; ++place) {
        Question q;
        q.id = q.place = place;
        q.terms = terms("24/d,burst=3");
        CHECK(say(ask(records, 60'000'000, q, {2s})) == "start now");  // a minute after boot
    }
}

TEST_CASE("decide: a grant is at most 100 ms, or a shorter period", "[unit]") {
    Desk slow("2/s");
    slow.ask(1);
    CHECK(say(slow.at(399'999us).ask(2)) == "come back in 1us");
    CHECK(say(slow.at(400ms).ask(2)) == "start in 100ms");

    Desk quick("1/30ms");
    quick.ask(1);
    CHECK(say(quick.ask(2)) == "start in 30ms");
    CHECK(say(quick.ask(3)) == "come back in 30ms");
}

TEST_CASE("decide: starts are recorded in order even where grants overtake", "[unit]") {
    Desk desk("5/s,burst=5");
    for (TicketId place = 1; place <= 5; ++place)
        desk.ask(place);
    CHECK(say(desk.at(900ms).ask(6)) == "start in 100ms");
    desk.set_limit("100/s,burst=100");  // another job on the key has looser numbers: not before that start
    CHECK(say(desk.ask(7)) == "start in 100ms");
}

TEST_CASE("decide: one start in a period, and one a microsecond", "[unit]") {
    Desk one("1/min");
    CHECK(say(one.ask(1)) == "start now");
    CHECK(say(one.ask_as_caller(2)) == "come back in 59s900ms");
    CHECK(say(one.at(59'900ms).ask_as_caller(2)) == "start in 100ms");

    Desk most("1000000/s");
    for (int i = 0; i < 100; ++i)
        CHECK(say(most.ask(1)) == (i == 0 ? "start now" : "start in " + std::to_string(i) + "us"));
}

TEST_CASE("decide: periods of 366 days and thirty million million starts in one", "[unit]") {
    Desk year("1/366d");
    CHECK(say(year.ask(1)) == "start now");
    CHECK(say(year.ask_as_caller(2)) == "come back in 365d23h59m59s900ms");
    CHECK(year.ask(3).wait <= 60s);
    CHECK(year.ask(3).earliest == 24h * 366 * 2);
    CHECK(say(year.at(24h * 366 - 100ms).ask_as_caller(2)) == "start in 100ms");

    Desk most("31622400M/366d,burst=31622400M");
    for (int i = 0; i < 5000; ++i)
        REQUIRE(say(most.ask(1)) == "start now");
    CHECK(most.records().log(0).size() <= 2045);
}
