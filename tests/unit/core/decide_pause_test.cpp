// SPDX-License-Identifier: MIT
// Pauses. contract.md section 3.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

TEST_CASE("pause: holds everybody, those who are due and newcomers", "[unit]") {
    Desk desk("8/s", 60s);
    desk.ask(1);
    desk.ask(2);  // due at 125 ms
    desk.at(20ms).pause(10s);
    const Answer due = desk.at(120ms).ask(2);
    CHECK(say(due) == "come back in 9s900ms");
    CHECK(due.why == WaitCause::paused);
    CHECK(due.paused_for == 9'900ms);
    CHECK(say(desk.ask(3)) == "come back in 9s925ms");
    CHECK(desk.start_or_nothing().kind == AnswerKind::wait);
    CHECK(desk.peek().kind == AnswerKind::wait);
    CHECK(desk.at(10'019'999us).ask(2).kind == AnswerKind::wait);
    CHECK(say(desk.at(10'020ms).ask(2)) == "start now");
}

TEST_CASE("pause: nothing is granted into it, nor during it for its end", "[unit]") {
    Desk desk("8/s", 60s);
    desk.pause(1s);
    CHECK(say(desk.at(950ms).ask(1)) == "come back in 50ms");
    CHECK(say(desk.at(999'999us).ask(1)) == "come back in 1us");
    CHECK(say(desk.at(1s).ask(1)) == "start now");
}

TEST_CASE("pause: a start granted before it stands, at most 100 ms into it", "[unit]") {
    Desk desk("8/s", 60s);
    desk.ask(1);
    CHECK(say(desk.at(25ms).ask(2)) == "start in 100ms");
    desk.pause(5s);
    CHECK(say(desk.ask_again(2, desk.last_id())) == "start in 100ms");
    CHECK(say(desk.ask(3)) == "come back in 5s");
}

TEST_CASE("pause: afterwards those who wait start one every T from its end, in their order", "[unit]") {
    Desk desk("8/s", 60s);
    desk.pause(10s);
    for (TicketId place = 1; place <= 6; ++place)
        desk.at(Duration{100'000 * static_cast<std::int64_t>(place)}).ask(place);
    CHECK(say(desk.at(10s).ask(6)) == "come back in 525ms");  // whoever asks first
    CHECK(say(desk.ask(3)) == "come back in 150ms");
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(say(desk.at(10'025ms).ask(2)) == "start in 100ms");
    CHECK(say(desk.at(10'150ms).ask(3)) == "start in 100ms");
    CHECK(say(desk.ask(7)) == "come back in 500ms");
}

TEST_CASE("pause: one key with a burst has its burst only by the slots since the end", "[unit]") {
    Desk desk("10/s,burst=5", 60s);
    desk.pause(10s);
    for (TicketId place = 1; place <= 6; ++place)
        desk.ask(place);
    desk.at(10s);
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(say(desk.ask(2)) == "start in 100ms");
    CHECK(say(desk.ask(3)) == "come back in 100ms");
}

TEST_CASE("pause: a shorter one never cuts a longer one, in any order", "[unit]") {
    for (const bool longer_first : {true, false}) {
        Desk desk("8/s");
        const PauseAnswer first = desk.pause(longer_first ? 10s : 5s);
        CHECK(first.changed);
        CHECK(first.left == (longer_first ? 10s : 5s));
        const PauseAnswer second = desk.pause(longer_first ? 5s : 10s);
        CHECK(second.changed == !longer_first);
        CHECK(second.left == 10s);
        CHECK(say(desk.at(9s).peek()) == "come back in 1s");
    }
    Desk desk("8/s");
    desk.pause(10s);
    CHECK_FALSE(desk.at(4s).pause(6s).changed);  // the same end
    CHECK(desk.pause(6s + 1us).left == 6s + 1us);
}

TEST_CASE("pause: resume ends it at once, and only once", "[unit]") {
    Desk desk("8/s", 60s);
    desk.pause(1h);
    desk.ask(1);
    desk.ask(2);
    CHECK(desk.at(1s).resume().changed);
    CHECK_FALSE(desk.resume().changed);
    CHECK(say(desk.ask(2)) == "come back in 25ms");  // 1 is first
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(say(desk.at(1'025ms).ask(2)) == "start in 100ms");
    CHECK_FALSE(desk.at(2h).resume().changed);
}

TEST_CASE("pause: for ever ends with resume alone", "[unit]") {
    Desk desk("8/s");
    const PauseAnswer answer = desk.pause_for_ever();
    CHECK(answer.forever);
    CHECK(desk.pause(24h * 366).forever);
    CHECK_FALSE(desk.pause(24h * 366).changed);
    desk.at(24h * 3660);
    CHECK(desk.ask(1).kind == AnswerKind::wait);
    CHECK(desk.ask(1).paused_by_hand);
    CHECK(desk.report().paused_for_ever);
    CHECK(desk.resume().changed);
    CHECK(say(desk.ask(1)) == "start now");
}

TEST_CASE("pause: callers that died in a pause without end do not stand in line for ever", "[unit]") {
    Desk desk("1/s");
    desk.pause_for_ever();
    for (TicketId place = 1; place <= 4; ++place)
        CHECK(desk.ask_as_caller(place).wait <= 60s);
    desk.at(1h).resume();
    CHECK(say(desk.ask(9)) == "start now");
}

TEST_CASE("pause: tells who set the one in force", "[unit]") {
    Desk desk("8/s");
    desk.pause(10s);
    CHECK_FALSE(desk.ask(1).paused_by_hand);
    CHECK_FALSE(desk.report().paused_by_hand);
    pause(desk.records(), desk.now_us(), {5s, false, true, "by hand"});
    CHECK_FALSE(desk.ask(1).paused_by_hand);
    CHECK(desk.records().pause_note() == "note");
    pause(desk.records(), desk.now_us(), {20s, false, true, "by hand"});
    CHECK(desk.ask(1).paused_by_hand);
    CHECK(desk.records().pause_note() == "by hand");
    CHECK_FALSE(desk.at(20s).ask(1).paused_by_hand);
}

TEST_CASE("pause: the starts of before stay counted in the window", "[unit]") {
    Desk desk("3/min,burst=3", 60s);
    for (TicketId place = 1; place <= 3; ++place)
        desk.ask(place);
    desk.pause(10s);
    CHECK(desk.at(10s).ask(4).earliest == 50s);
}

TEST_CASE("pause only: free, and ten a second for those who waited out a pause", "[unit]") {
    Desk desk("", 60s);
    desk.set_pause_only();
    for (TicketId place = 1; place <= 100; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    desk.pause(2s);
    CHECK(say(desk.ask(1)) == "come back in 2s");
    CHECK(say(desk.ask(2)) == "come back in 2s");
    CHECK(say(desk.ask(3)) == "come back in 2s100ms");
    CHECK(say(desk.ask(4)) == "come back in 2s200ms");
    desk.at(2s);
    CHECK(say(desk.ask(5)) == "come back in 300ms");  // a newcomer stands behind those who waited
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(say(desk.ask(2)) == "start in 100ms");
    CHECK(say(desk.ask(3)) == "come back in 100ms");
    CHECK(say(desk.at(2'100ms).ask(3)) == "start in 100ms");
    CHECK(say(desk.at(2'200ms).ask(4)) == "start in 100ms");
    CHECK(say(desk.ask(5)) == "start in 100ms");         // not before the start granted last
    CHECK(say(desk.at(2'300ms).ask(6)) == "start now");  // it did not wait out the pause
    CHECK(say(desk.ask(7)) == "start now");
}

TEST_CASE("pause only: those who come late after an outage are paced, too", "[unit]") {
    Desk desk("", 60s);
    desk.set_pause_only();
    desk.pause(2s);
    for (TicketId place = 1; place <= 4; ++place)
        desk.ask(place);
    desk.at(30s);
    CHECK(say(desk.ask(4)) == "start now");
    CHECK(say(desk.ask(3)) == "start in 100ms");
    CHECK(say(desk.ask(2)) == "come back in 100ms");
}
