// SPDX-License-Identifier: MIT
// The waiting list: places, who steps out of it, callers, when to come back. contract.md section 2.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

TEST_CASE("line: a place is a position, told with how many stand ahead", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    const Answer first = desk.ask(2), second = desk.ask(3);
    CHECK(first.ahead == 0);
    CHECK(first.number == 1);
    CHECK(first.why == WaitCause::rate);
    CHECK(first.earliest == 1s);
    CHECK(second.ahead == 1);
    CHECK(second.number == 2);
    CHECK(second.why == WaitCause::line);
    CHECK(second.earliest == 2s);
    CHECK(desk.at(700ms).ask(3).waited == 700ms);
    CHECK(desk.at(800ms).ask(3).waited == 800ms);
    CHECK(desk.ask(3).number == 2);
}

TEST_CASE("line: a newcomer does not pass those who wait", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    desk.ask(2);
    CHECK(say(desk.at(900ms).ask(3)) == "come back in 1s");  // 2 has not come yet, but its turn it is
    CHECK(say(desk.at(950ms).ask(2)) == "start in 50ms");
}

TEST_CASE("line: asking often moves nobody", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    for (TicketId place = 2; place <= 4; ++place)
        desk.ask(place);
    for (int i = 0; i < 1000; ++i)
        CHECK(say(desk.ask(3)) == "come back in 1s900ms");
    CHECK(desk.header().in_line == 3);
    CHECK(desk.header().numbers == 3);
    CHECK(say(desk.ask(2)) == "come back in 900ms");
    CHECK(say(desk.ask(5)) == "come back in 3s900ms");
}

TEST_CASE("line: who gives its place back frees it for those behind, once", "[unit]") {
    Desk desk("1/s", 60s);
    for (TicketId place = 1; place <= 4; ++place)
        desk.ask(place);
    CHECK(desk.cancel(3));
    CHECK_FALSE(desk.cancel(3));
    CHECK(say(desk.ask(4)) == "come back in 1s900ms");
    CHECK(desk.cancel(2));
    CHECK(say(desk.ask(4)) == "come back in 900ms");
    CHECK(desk.cancel(4));
    CHECK(desk.header().in_line == 0);
    CHECK(say(desk.ask(9)) == "come back in 900ms");  // as if nobody had been there
}

TEST_CASE("line: more than 100 ms late steps out, keeps its number and holds nobody up", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    desk.ask(2);  // told 900 ms
    desk.ask(3);  // told 1.9 s
    desk.at(1s).peek();
    CHECK(desk.place_of(2) == Place::in_line);
    desk.at(1s + 1us).peek();
    CHECK(desk.place_of(2) == Place::out);
    CHECK(say(desk.ask(3)) == "start now");
    // Back again it is judged by its number: before 4, which came later.
    desk.ask(4);
    CHECK(desk.ask(2).ahead == 0);
    CHECK(desk.ask(4).ahead == 1);
}

TEST_CASE("line: where there is room, a late one does not wait for those who stepped out", "[unit]") {
    Desk desk("8/s");
    for (TicketId place = 1; place <= 5; ++place)
        desk.ask(place);
    desk.at(1s);
    CHECK(say(desk.ask(5)) == "start now");
    CHECK(desk.header().out == 3);
}

TEST_CASE("line: a ticket is forgotten ten minutes after the time it was told", "[unit]") {
    Desk desk("1/min", 60s);
    desk.ask(1);
    const Answer told = desk.ask(2);
    desk.at(told.wait + 10min).peek();
    CHECK(desk.place_of(2) == Place::out);
    desk.after(1us).peek();
    CHECK_FALSE(desk.place_of(2).has_value());
}

TEST_CASE("line: a caller is told the true time, without checks in between", "[unit]") {
    Desk desk("1/h");
    desk.ask(1);
    CHECK(say(desk.ask_as_caller(2)) == "come back in 59m59s900ms");
    CHECK(desk.ask(3).wait <= 60s);
    CHECK(say(desk.at(1h - 100ms).ask_as_caller(2)) == "start in 100ms");
}

TEST_CASE("line: a late caller stands away, and room in the window is kept for one", "[unit]") {
    Desk desk("2/s", 60s);
    desk.ask(1);
    desk.ask_as_caller(2);  // told 400 ms
    desk.ask_as_caller(3);  // told 900 ms
    desk.ask(4);            // told 1.4 s
    desk.at(1'010ms).peek();
    CHECK(desk.place_of(2) == Place::away);
    CHECK(desk.place_of(3) == Place::away);
    CHECK(desk.header().away == 2);
    // Two starts fit the window, one of them is for a caller.
    CHECK(say(desk.at(1'100ms).ask(4)) == "start now");
    CHECK(say(desk.at(1'500ms).ask(5)) == "come back in 500ms");
    CHECK(say(desk.at(1'550ms).ask_as_caller(2)) == "start in 50ms");
}

TEST_CASE("line: room is kept for one caller only, and none where N is 1", "[unit]") {
    Desk three("3/s,burst=3", 60s);
    for (TicketId place = 1; place <= 3; ++place)
        three.ask(place);
    for (TicketId place = 4; place <= 6; ++place)
        three.ask_as_caller(place);  // told 900 ms
    three.at(1'001ms);
    CHECK(say(three.ask(7)) == "start now");
    CHECK(three.header().away == 3);
    CHECK(say(three.ask(8)) == "start now");
    CHECK(say(three.ask(9)) == "come back in 900ms");  // the third start is for one of the callers
    CHECK(say(three.ask_as_caller(4)) == "start now");
    CHECK(say(three.ask_as_caller(5)) == "come back in 900ms");

    Desk one("1/s", 60s);
    one.ask(1);
    one.ask_as_caller(2);
    CHECK(say(one.at(1'001ms).ask(3)) == "start now");
    CHECK(one.place_of(2) == Place::away);
}

TEST_CASE("line: who came after the caller that is away gives it room, who came before does not", "[unit]") {
    Desk desk("2/s,burst=2", 60s);
    desk.ask(1);
    desk.ask(2);            // both starts of the window
    desk.ask(3);            // number 1, told 900 ms
    desk.ask_as_caller(4);  // number 2, told 900 ms
    desk.at(950ms).ask(3);  // starts at 1 s
    desk.at(1'001ms).peek();
    CHECK(desk.place_of(4) == Place::away);
    CHECK(say(desk.ask(5)) != "start now");  // the second start of the window is kept for the caller
    CHECK(say(desk.ask_as_caller(4)) == "start now");
}

TEST_CASE("line: a caller's ticket is kept as long as it asked for", "[unit]") {
    Desk desk("8/s");
    desk.ask(1);
    desk.ask_as_caller(2, 120s);  // told 25 ms
    desk.ask_as_caller(3, 50ms);  // told 150 ms
    desk.at(200ms).peek();
    CHECK(desk.place_of(3) == Place::in_line);
    desk.at(200'001us).peek();
    CHECK_FALSE(desk.place_of(3).has_value());
    desk.at(120'025ms).peek();
    CHECK(desk.place_of(2) == Place::away);
    desk.after(1us).peek();
    CHECK_FALSE(desk.place_of(2).has_value());
}

TEST_CASE("line: comes back at the latest after the store's time, spread by number", "[unit]") {
    Desk desk("1/min", 5s);
    desk.ask(1);
    // T / 4 is longer than 5 s: 15 s, times (16 + number mod 17) / 32.
    for (TicketId place = 2; place <= 35; ++place) {
        const Answer answer = desk.ask(place);
        CHECK(answer.wait == Duration{15'000'000 * (16 + answer.number % 17) / 32});
        CHECK(answer.wait >= 7'500ms);
        CHECK(answer.wait <= 15s);
    }

    Desk local("2/s", 2s);
    local.ask(1);
    for (TicketId place = 2; place <= 20; ++place) {
        const Answer answer = local.ask(place);
        const Duration check{2'000'000 * (16 + answer.number % 17) / 32};
        CHECK(answer.wait == std::min(check, answer.earliest - 100ms));
    }
}

TEST_CASE("line: thousands ask less often, a minute apart at most", "[unit]") {
    Desk desk("1/s", 2s);
    for (TicketId place = 1; place <= 8000; ++place)
        desk.ask(place);
    Duration sum{};
    for (TicketId place = 7001; place <= 7017; ++place) {
        const Answer answer = desk.ask(place);
        CHECK(answer.wait >= 30s);
        CHECK(answer.wait <= 60s);
        sum += answer.wait;
    }
    CHECK(sum > 17 * 40s);  // spread, not all at the shortest
    Desk some("1/s", 2s);
    for (TicketId place = 1; place <= 1000; ++place)
        some.ask(place);
    CHECK(some.ask(1000).wait <= 10s);
    CHECK(some.ask(1000).wait >= 5s);
}

TEST_CASE("line: who is held up by those ahead alone asks again after half a T, 1 to 50 ms", "[unit]") {
    const std::pair<const char*, Duration> rows[] = {{"1/1ms", 1ms}, {"1/50ms", 25ms}, {"1/100ms", 50ms}};
    for (const auto& [limit, again] : rows) {
        INFO(limit);
        Desk desk(limit, 60s);
        const Duration period = rate(limit).period();
        desk.ask(1);
        desk.ask(2);
        desk.ask(3);
        desk.ask(4);
        // 3 is a little late. 4 could start by its slot, but the window has room for one and 3 is first.
        CHECK(desk.at(2 * period).ask(4).wait == again);
        CHECK(desk.ask(4).kind == AnswerKind::wait);
        CHECK(say(desk.ask(3)) == "start now");
    }
}

TEST_CASE("line: room is kept for those who are due now, not for those within a grant", "[unit]") {
    Desk desk("2/100ms", 60s);
    for (TicketId place = 1; place <= 3; ++place)
        CHECK(desk.ask(place).kind == AnswerKind::start);  // at 0, 50 and 100 ms
    CHECK(say(desk.ask(4)) == "come back in 50ms");
    CHECK(say(desk.ask(5)) == "come back in 100ms");
    // 4 is a little late and due in 50 ms: the first of the two to ask has that slot.
    CHECK(say(desk.at(100ms).ask(5)) == "start in 50ms");
    CHECK(say(desk.ask(4)) == "start in 100ms");
}

TEST_CASE("line: only the first 64 can start, the rank beyond is an estimate", "[unit]") {
    Desk desk("1000000/s", 60s);
    desk.pause(1s);
    for (TicketId place = 1; place <= 100; ++place)
        desk.ask_as_caller(place);
    desk.at(1'050ms);  // the pause is over and all are due
    CHECK(desk.peek(65).kind == AnswerKind::wait);
    CHECK(desk.peek(65).ahead == 64);
    CHECK(desk.peek(100).ahead == 99);
    CHECK(desk.peek(64).kind == AnswerKind::start);
    CHECK(desk.peek().kind == AnswerKind::wait);
    CHECK(desk.peek().ahead == 100);
    // 70 to 90 leave: what is counted stays exact, what is estimated is not more than who there is.
    for (TicketId place = 70; place <= 90; ++place)
        desk.cancel(place);
    CHECK(desk.peek(64).ahead == 63);
    CHECK(desk.peek(100).ahead <= 78);
    CHECK(desk.peek(100).ahead >= 64);
}

TEST_CASE("line: at most 16 tickets are moved by one question", "[unit]") {
    Desk desk("1000/s", 60s);
    desk.pause(1s);
    for (TicketId place = 1; place <= 40; ++place)
        desk.ask(place);
    desk.at(1'200ms);
    desk.peek();
    CHECK(desk.header().in_line == 24);
    CHECK(desk.header().out == 16);
    desk.peek();
    CHECK(desk.header().in_line == 8);
    desk.peek();
    CHECK(desk.header().in_line == 0);
    CHECK(desk.header().out == 40);
    desk.pause(1h);  // so that the key itself is not forgotten
    desk.at(1s + 10min + 1us);
    desk.peek();
    CHECK(desk.header().out == 24);
    for (int i = 0; i < 2; ++i)
        desk.peek();
    CHECK(desk.header().out == 0);
    CHECK(desk.records().tickets().empty());
}

TEST_CASE("line: looking, and a start or nothing, take no place", "[unit]") {
    Desk desk("1/s", 60s);
    CHECK(say(desk.peek()) == "start now");
    CHECK_FALSE(desk.records().header().has_value());  // nothing is written for a key without state
    CHECK(say(desk.start_or_nothing()) == "start now");
    CHECK(say(desk.start_or_nothing()) == "come back in 900ms");
    CHECK(desk.start_or_nothing().number == 0);
    desk.ask(2);
    const auto before = fields_of(desk.header());
    CHECK(say(desk.peek()) == "come back in 1s900ms");
    CHECK(say(desk.start_or_nothing()) == "come back in 1s900ms");
    CHECK(say(desk.peek(2)) == "come back in 900ms");
    CHECK(fields_of(desk.header()) == before);
    CHECK(desk.records().tickets().size() == 1);
    desk.at(950ms);
    CHECK(say(desk.peek(2)) == "start in 50ms");
    CHECK(say(desk.peek(2)) == "start in 50ms");
    CHECK(desk.report().limits.at(0).starts == 1);
    CHECK(say(desk.start_or_nothing()) != "start in 50ms");  // 2 is first
}
