// SPDX-License-Identifier: MIT
// Limits that change, limits that are registered, clocks that step, keys that run out.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

TEST_CASE("limits: a changed limit works at the next question, both ways", "[unit]") {
    Desk desk("4/s", 60s);
    desk.ask(1);
    desk.set_limit("8/s");
    CHECK(desk.peek().earliest == 125ms);
    desk.set_limit("1/s");
    CHECK(desk.peek().earliest == 1s);
    desk.set_limit("4/s");
    CHECK(desk.peek().earliest == 250ms);
}

TEST_CASE("limits: a tighter one counts the starts from before", "[unit]") {
    Desk desk("8/s,burst=8");
    for (TicketId place = 1; place <= 8; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    desk.set_limit("2/s,burst=2");
    CHECK(desk.peek().earliest == 1s);
    desk.set_limit("8/min,burst=8");
    CHECK(desk.peek().earliest == 1min);
}

TEST_CASE("limits: a looser one reaches as far as starts were kept", "[unit]") {
    Desk desk("10/min,burst=10");
    for (TicketId place = 1; place <= 10; ++place)
        desk.ask(place);
    desk.set_limit("20/min,burst=20");
    desk.at(30s);
    for (TicketId place = 11; place <= 20; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    CHECK(desk.ask(21).earliest == 30s);  // the first ten count
}

TEST_CASE("limits: those who wait under the old one are judged by the new one", "[unit]") {
    Desk desk("1/h");
    desk.ask(1);
    desk.ask(2);
    desk.ask(3);
    desk.set_limit("8/s");
    desk.at(2s);
    CHECK(say(desk.ask(2)) == "start now");
    CHECK(say(desk.ask(3)) == "start now");  // a late slot
    CHECK(say(desk.ask(4)) == "come back in 25ms");
}

TEST_CASE("limits: differing numbers on a key are told to the one who asks next", "[unit]") {
    Desk desk("8/s");
    CHECK_FALSE(desk.ask(1).other.has_value());
    CHECK_FALSE(desk.ask(2).other.has_value());
    desk.set_limit("9/s");
    CHECK(desk.peek().other == terms("8/s"));
    CHECK(desk.ask(3).other == terms("8/s"));
    CHECK_FALSE(desk.ask(3).other.has_value());
    desk.set_limit("8/s");
    CHECK(desk.ask(4).other == terms("9/s"));
}

TEST_CASE("limits: a job with none is told so and takes nothing", "[unit]") {
    Desk desk("");
    CHECK(say(desk.ask(1)) == "no limit");
    CHECK_FALSE(desk.records().header().has_value());
    desk.set_registered("8/s");
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(say(desk.ask(2)) == "come back in 25ms");
}

TEST_CASE("limits: what is registered is a ceiling", "[unit]") {
    const auto judged = [](const char* brought, const char* registered, bool override_registered = false) {
        Desk desk(brought);
        desk.set_registered(registered);
        Question question = desk.question(1);
        question.override_registered = override_registered;
        const Answer answer = desk.ask(question);
        CHECK(answer.registered == terms(registered));
        return answer.terms.empty() ? say(answer) : answer.terms.text();
    };
    CHECK(judged("10/s", "8/s") == "8/s");
    CHECK(judged("8/s", "10/s") == "8/s");
    CHECK(judged("8/s,burst=8", "10/s,burst=4") == "8/s,burst=4");
    CHECK(judged("8/min", "10/s") == "10/s and 8/min");
    CHECK(judged("8/min and 4/d", "10/s and 9/min") == "10/s, 8/min and 4/d");
    CHECK(judged("8/min", "10/s, 3 at once") == "10/s and 8/min, 3 at once");
    CHECK(judged("8/min, 5 at once", "9/min, 3 at once") == "8/min, 3 at once");
    CHECK(judged("8/min, 2 at once", "9/min, 3 at once") == "8/min, 2 at once");
    CHECK(judged("8/min", "10/s", true) == "8/min");
    CHECK(judged("10/s", "8/s", true) == "10/s");
    CHECK(judged("", "8/s") == "8/s");
    CHECK(judged("", "8/s", true) == "8/s");

    Desk pause_only("");
    pause_only.set_pause_only();
    pause_only.set_registered("8/s");
    CHECK(pause_only.ask(1).terms == terms("8/s"));
}

TEST_CASE("limits: more than four with those that are registered are a conflict and take nothing", "[unit]") {
    Desk desk("8/min and 7/h and 6/d");
    desk.set_registered("8/s and 8/2s");
    CHECK(say(desk.ask(1)) == "conflict");
    CHECK_FALSE(desk.records().header().has_value());
}

TEST_CASE("clock: stepping back an hour holds nobody", "[unit]") {
    Desk desk("8/s", 60s);
    desk.ask(1);
    desk.ask(2);
    desk.pause(2s);
    desk.at(1s).ask(2);
    desk.at(1s - 1h);
    CHECK(say(desk.ask(2)) == "come back in 1s");
    CHECK(desk.header().offset_us == 3600'000'000);
    desk.after(1s);
    CHECK(say(desk.ask(2)) == "start now");
    CHECK(say(desk.ask(3)) == "come back in 25ms");
}

TEST_CASE("clock: time that was only looked at does not come again", "[unit]") {
    Desk desk("8/s", 60s);
    desk.pause(1h);
    desk.at(59min).peek();  // the last that is known of the time
    desk.at(59min - 1h);
    CHECK(desk.peek().paused_for == 1min);
}

TEST_CASE("clock: steps forward and back again lose no start of the window", "[unit]") {
    Desk desk("3/h,burst=3", 60s);
    for (TicketId place = 1; place <= 3; ++place)
        desk.ask(place);
    desk.at(30min).peek();
    desk.at(-30min);
    CHECK(desk.peek().earliest == 30min);
    desk.at(0s);
    CHECK(desk.peek().earliest == 0s);
}

TEST_CASE("clock: an hour forward makes everybody late and nobody lost", "[unit]") {
    Desk desk("1/s", 60s);
    desk.ask(1);
    for (TicketId place = 2; place <= 4; ++place)
        desk.ask(place);
    desk.at(5min);
    CHECK(say(desk.ask(4)) == "start now");  // those who come first go first
    CHECK(say(desk.ask(2)) == "come back in 900ms");
    CHECK(say(desk.ask(3)) == "come back in 1s900ms");
}

TEST_CASE("keys: one left alone is as good as new after its longest period", "[unit]") {
    Desk desk("8/min,burst=8");
    desk.ask(1);
    const auto birth = desk.header().birth_us;
    desk.at(1min);
    CHECK(desk.peek().birth_us == birth);
    CHECK(desk.report().known);
    desk.after(1us);
    CHECK(desk.peek().birth_us != birth);
    CHECK_FALSE(desk.report().known);
    CHECK_FALSE(desk.records().header().has_value());
    CHECK(desk.records().log(0).empty());
    CHECK(desk.records().recent().empty());
    CHECK(say(desk.ask(1)) == "start now");
    CHECK(desk.header().recent_total == 1);
}

TEST_CASE("keys: pauses and tickets keep one alive, what is registered outlives it", "[unit]") {
    Desk paused("8/s");
    paused.set_registered("8/s");
    paused.pause(1h);
    paused.at(1h);
    CHECK(paused.records().header().has_value());
    paused.after(1us).peek();
    CHECK_FALSE(paused.records().header().has_value());
    CHECK(paused.records().registration().has_value());
    CHECK(paused.records().pause_note() == "note");

    Desk waiting("8/s", 60s);
    waiting.ask(1);
    waiting.ask(2);  // told 25 ms
    waiting.at(25ms + 10min).peek();
    CHECK(waiting.place_of(2).has_value());
    waiting.after(1us).peek();
    CHECK_FALSE(waiting.records().header().has_value());
}

TEST_CASE("keys: a cancelled place does not keep one alive", "[unit]") {
    Desk desk("8/s", 60s);
    desk.ask(1);
    desk.ask(2);
    desk.cancel(2);
    desk.at(1s + 1us).peek();
    CHECK_FALSE(desk.records().header().has_value());
}

TEST_CASE("keys: the longest period of all who asked counts", "[unit]") {
    Desk desk("1/h");
    desk.ask(1);
    desk.set_limit("8/s");
    desk.at(1s).ask(2);
    desk.at(59min);
    desk.set_limit("1/h");
    CHECK(desk.ask(3).earliest > 1s);
}
