// SPDX-License-Identifier: MIT
// What every store does alike: pauses and what is registered. contract.md sections 3 and 5.
#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;
using testing::terms;

}  // namespace

TEST_CASE("store: a pause holds everybody, and a start granted before it stands", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.ask(1);
        CHECK(say(c.at(25ms).ask(2)) == "start in 100ms");
        const StartId granted = c.last_id();
        const PauseAnswer paused = c.pause(1s);
        CHECK(paused.left == 1s);
        CHECK(paused.changed);
        CHECK_FALSE(paused.forever);
        CHECK(say(c.ask_again(2, granted)) == "start in 100ms");
        const Answer held = c.at(125ms).ask(3);
        CHECK(say(held) == "come back in 900ms");
        CHECK(held.why == WaitCause::paused);
        CHECK(held.paused_for == 900ms);
        CHECK_FALSE(held.paused_by_hand);
        CHECK(c.start_or_nothing().kind == AnswerKind::wait);
        CHECK(c.peek().kind == AnswerKind::wait);
        CHECK(say(c.at(1'024'999us).ask(3)) == "come back in 1us");  // nothing is granted for its end
        CHECK(say(c.at(1'025ms).ask(3)) == "start now");
    });
}

TEST_CASE("store: after a pause those who waited start one every T, in their order", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.pause(500ms * 2);
        for (TicketId place = 1; place <= 4; ++place)
            c.after(1ms).ask_as_caller(place);
        CHECK(c.at(1s).ask_as_caller(4).earliest == 375ms);  // whoever asks first
        CHECK(say(c.ask(1)) == "start now");
        CHECK(say(c.ask_as_caller(3)) == "come back in 150ms");
        CHECK(say(c.at(1'025ms).ask_as_caller(2)) == "start in 100ms");
        CHECK(say(c.at(1'150ms).ask_as_caller(3)) == "start in 100ms");
        CHECK(say(c.ask(7)) == "come back in 250ms");
    });
}

TEST_CASE("store: the longest pause wins, in any order, and keeps its note", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        for (const bool longer_first : {true, false}) {
            c.key(longer_first ? "longer first" : "shorter first");
            c.pause(longer_first ? 10s : 5s, longer_first ? "longer" : "shorter");
            const PauseAnswer second = c.pause(longer_first ? 5s : 10s, longer_first ? "shorter" : "longer");
            CHECK(second.changed == !longer_first);
            CHECK(second.left == 10s);
            const KeyReport report = c.report();
            CHECK(report.paused_for == 10s);
            REQUIRE(report.note.has_value());
            CHECK(encode(*report.note) == encode(note_saying("longer")));
        }
        CHECK_FALSE(c.at(4s).pause(6s).changed);  // the same end
        CHECK(c.pause(6s + 1us).left == 6s + 1us);
    });
}

TEST_CASE("store: resume ends a pause at once, and only once", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.pause(1h);
        c.ask(1);
        c.ask(2);
        const PauseAnswer ended = c.at(500ms).resume();
        CHECK(ended.changed);
        CHECK(ended.left == 0s);
        CHECK_FALSE(c.resume().changed);
        CHECK(say(c.ask(2)) == "come back in 25ms");  // 1 is first
        CHECK(say(c.ask(1)) == "start now");
        CHECK(c.report().note.has_value());
        c.key("never paused");
        CHECK_FALSE(c.resume().changed);
        CHECK_FALSE(c.report().known);
    });
}

TEST_CASE("store: a pause for ever ends with resume alone", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        const PauseAnswer answer = c.pause_for_ever();
        CHECK(answer.forever);
        CHECK(answer.changed);
        CHECK(c.pause(24h * 366).forever);
        CHECK_FALSE(c.pause(24h * 366).changed);
        c.at(24h * 3660);
        const Answer held = c.ask_as_caller(1);
        CHECK(held.kind == AnswerKind::wait);
        CHECK(held.wait <= 60s);  // a caller comes back to look, too
        CHECK(held.paused_by_hand);
        const KeyReport report = c.report();
        CHECK(report.paused_for_ever);
        CHECK(report.paused_by_hand);
        CHECK(report.note.has_value());
        CHECK(c.resume().changed);
        CHECK_FALSE(c.report().paused_for_ever);
        CHECK(say(c.ask(1)) == "start now");
    });
}

TEST_CASE("store: tells who set the pause in force, and when it is over", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.pause(10s, "refused");
        c.pause(5s, "shorter", true);
        CHECK_FALSE(c.ask(1).paused_by_hand);
        c.pause(20s, "longer", true);
        CHECK(c.ask(1).paused_by_hand);
        CHECK(c.report().paused_by_hand);
        CHECK(c.report().note->summary == "longer");
        c.at(20s);
        CHECK_FALSE(c.ask(1).paused_by_hand);
        CHECK_FALSE(c.report().paused_by_hand);
        CHECK(c.report().note->summary == "longer");  // its evidence stays
    });
}

TEST_CASE("store: a note of any bytes comes back as it was; a pause without one drops the last",
          "[contract]") {
    in_every_store([](Counter& c) {
        PauseNote note = note_saying(std::string("a\0b\n\xff:3,x", 10));
        note.line = std::string(200, '\xf0');
        note.reason = "";
        const Key key = key_named("noted");
        c.key("noted");
        sure(c.store().pause(key, {10s, false, false, encode(note)}));
        REQUIRE(c.report().note.has_value());
        CHECK(encode(*c.report().note) == encode(note));
        sure(c.store().pause(key, {20s, false, false, ""}));
        CHECK(c.report().paused_for == 20s);
        CHECK_FALSE(c.report().note.has_value());
    });
}

TEST_CASE("store: pauses alone: free, and ten a second for those who waited one out", "[contract]") {
    in_every_store([](Counter& c) {
        c.no_limit(true);
        for (TicketId place = 1; place <= 20; ++place)
            CHECK(say(c.ask(place)) == "start now");
        c.pause(1s);
        for (TicketId place = 1; place <= 4; ++place)
            CHECK(c.ask_as_caller(place).kind == AnswerKind::wait);
        c.at(1s);
        CHECK(say(c.ask(5)) == "come back in 300ms");  // a newcomer stands behind those who waited
        CHECK(say(c.ask(1)) == "start now");
        CHECK(say(c.ask(2)) == "start in 100ms");
        CHECK(say(c.ask_as_caller(3)) == "come back in 100ms");
        const KeyReport report = c.report();
        CHECK(report.terms.empty());
        CHECK(report.started == 22);
        CHECK(report.limits.empty());
    });
}

TEST_CASE("store: a job without a limit is told so and takes nothing", "[contract]") {
    in_every_store([](Counter& c) {
        c.no_limit(false);
        CHECK(say(c.ask(1)) == "no limit");
        CHECK_FALSE(c.report().known);
        CHECK(c.keys("*").empty());
        CHECK(c.register_terms("8/s") == "none");
        CHECK(say(c.ask(1)) == "start now");
        CHECK(say(c.ask(2)) == "come back in 25ms");
    });
}

TEST_CASE("store: what is registered is a ceiling", "[contract]") {
    in_every_store([](Counter& c) {
        int keys = 0;
        const auto judged = [&](const std::string& brought, const std::string& registered, bool override) {
            c.key("key " + std::to_string(++keys));
            c.register_terms(registered);
            c.no_limit(false);
            if (!brought.empty()) c.limit(brought);
            Question question = c.question(1);
            question.override_registered = override;
            const Answer answer = c.ask(question);
            CHECK(answer.registered == terms(registered));
            CHECK(c.report().started == (answer.kind == AnswerKind::start ? 1 : 0));
            return answer.terms.empty() ? say(answer) : answer.terms.text();
        };
        CHECK(judged("10/s", "8/s", false) == "8/s");
        CHECK(judged("8/s", "10/s", false) == "8/s");
        CHECK(judged("8/s,burst=8", "10/s,burst=4", false) == "8/s,burst=4");
        CHECK(judged("8/min", "10/s", false) == "10/s and 8/min");
        CHECK(judged("10/s", "8/min", false) == "10/s and 8/min");
        CHECK(judged("20/s and 500/h", "10/s and 8/min", false) == "10/s, 500/h and 8/min");
        CHECK(judged("4 at once", "80/min, 8 at once", false) == "80/min, 4 at once");
        CHECK(judged("500/min", "80/min, 4 at once", false) == "80/min, 4 at once");
        CHECK(judged("500/min", "80/min, 4 at once", true) == "500/min");
        CHECK(judged("2 at once", "4 at once", false) == "2 at once");
        CHECK(judged("5/2s", "10/s, 80/min, 1000/h and 9000/d", false) == "conflict");
        CHECK(judged("5/2s", "10/s, 80/min, 1000/h and 9000/d", true) == "5/2s");
        CHECK(judged("500/min", "10/s, 80/min, 1000/h and 9000/d", false) ==
              "10/s, 80/min, 1000/h and 9000/d");
        CHECK(judged("8/min", "10/s", true) == "8/min");
        CHECK(judged("10/s", "8/s", true) == "10/s");
        CHECK(judged("", "8/s", false) == "8/s");
        CHECK(judged("", "8/s", true) == "8/s");
    });
}

TEST_CASE("store: a registration is given back, replaced and taken away", "[contract]") {
    in_every_store([](Counter& c) {
        CHECK(c.registered() == "none");
        CHECK(c.unregister() == "none");
        CHECK_FALSE(c.report().known);
        CHECK(c.register_terms("8/s,burst=2, 3 at once") == "none");
        const std::string once = c.registered();
        CHECK(once == "1700000000 3 1 8 1000000 2 2 ops@host");
        CHECK(text_of(c.report().registration) == once);
        CHECK(c.report().known);
        CHECK(c.report().terms == terms("8/s,burst=2, 3 at once"));
        CHECK(c.keys("*") == "[k]");
        CHECK(c.register_terms("1/h") == "8/s,burst=2, 3 at once");
        CHECK(c.unregister() == "1/h");
        CHECK(c.registered() == "none");
        CHECK_FALSE(c.report().known);
        CHECK(c.keys("*").empty());
        Registration longest{terms("31622400M/366d, 1000000 at once"), 1, std::string("me\0\n\xff@host", 10)};
        sure(c.store().set_registration(key_named("k"), longest));
        CHECK(c.registered() == text_of(longest));
    });
}

TEST_CASE("store: a registration outlives the state and works without its holder's rate", "[contract]") {
    in_every_store([](Counter& c) {
        c.register_terms("4/s");
        c.limit("8/s");
        c.ask(1);
        CHECK(c.ask(2).earliest == 250ms);
        c.cancel(2);
        c.at(24h);
        const KeyReport report = c.report();
        CHECK(report.known);
        CHECK(report.started == 0);
        CHECK(report.terms == terms("4/s"));
        CHECK(say(c.ask(3)) == "start now");
        CHECK(c.ask(4).earliest == 250ms);
        CHECK(c.unregister() == "4/s");
        CHECK(c.ask(4).earliest == 125ms);
    });
}

}  // namespace jobthrottle::test
