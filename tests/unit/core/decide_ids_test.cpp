// SPDX-License-Identifier: MIT
// Repeated questions and lost replies. contract.md section 2, ids.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

TEST_CASE("ids: a start asked for again under its id is the same start and counts once", "[unit]") {
    Desk desk("8/s");
    desk.ask(1);
    desk.at(25ms);
    CHECK(say(desk.ask(2)) == "start in 100ms");
    const StartId id = desk.last_id();
    const auto before = fields_of(desk.header());
    for (int i = 0; i < 5; ++i)
        CHECK(say(desk.ask_again(2, id)) == "start in 100ms");
    CHECK(fields_of(desk.header()) == before);
    CHECK(say(desk.at(65ms).ask_again(2, id)) == "start in 60ms");
    CHECK(say(desk.at(500ms).ask_again(2, id)) == "start now");  // over, and still the same
    CHECK(desk.report().started == 2);
    CHECK(desk.report().limits.at(0).starts == 2);
}

TEST_CASE("ids: a lost reply never costs a second start, wait or start", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    desk.ask(2);
    const StartId waits = desk.last_id();
    CHECK(say(desk.ask_again(2, waits)) == "come back in 900ms");
    CHECK(desk.header().in_line == 1);
    CHECK(desk.header().numbers == 1);
    // The question itself was lost on its way: asked again it is judged for the first time.
    CHECK(say(desk.at(950ms).ask_again(2, 777)) == "start in 50ms");
    CHECK(say(desk.ask_again(2, 777)) == "start in 50ms");
    CHECK(desk.header().recent_total == 2);
}

TEST_CASE("ids: a repeated question changes nothing for those who wait", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    const StartId first = desk.last_id();
    desk.ask(2);
    desk.at(950ms);
    CHECK(say(desk.ask_again(1, first)) == "start now");
    CHECK(say(desk.ask_again(3, first)) == "start now");  // whatever place it names
    CHECK(say(desk.ask(2)) == "start in 50ms");
    CHECK(desk.header().in_line == 0);
}

TEST_CASE("ids: also in a pause that came in between", "[unit]") {
    Desk desk("1/s");
    desk.ask(1);
    const StartId id = desk.last_id();
    desk.pause(1min);
    CHECK(say(desk.ask_again(1, id)) == "start now");
    CHECK(desk.ask(1).kind == AnswerKind::wait);
}

TEST_CASE("ids: the last 1,024 starts are remembered, in a ring", "[unit]") {
    Desk desk("5000/min,burst=5000");
    for (int i = 0; i < 1025; ++i)
        desk.ask(1);
    CHECK(desk.records().recent().size() == 1024);
    const auto total = [&] { return desk.header().recent_total; };
    CHECK(total() == 1025);
    desk.ask_again(1, 2);  // the oldest that is remembered
    CHECK(total() == 1025);
    desk.ask_again(1, 1025);
    CHECK(total() == 1025);
    desk.ask_again(1, 1);  // beyond: one start counted too much at the most
    CHECK(total() == 1026);
    desk.ask_again(1, 1);
    CHECK(total() == 1026);
}

TEST_CASE("ids: a fresh question is not looked up", "[unit]") {
    Desk desk("8/s,burst=8");
    Question question = desk.question(1);
    CHECK(say(desk.ask(question)) == "start now");
    CHECK(say(desk.ask(question)) == "start now");
    CHECK(desk.header().recent_total == 2);
}
