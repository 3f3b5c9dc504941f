// SPDX-License-Identifier: MIT
// What every store does alike: looking, listing, forgetting, running out. contract.md sections 2 and 8.
#include <algorithm>

#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::rate;
using testing::say;
using testing::terms;

// In byte order.
std::vector<std::string> odd_keys() {
    std::vector<std::string> keys;
    for (const char* key : {" ", "{}", "{a}", "a}b", "}:state", "a:b:state", "\n", "two words\nand a line",
                            "%41", "A", "*?[a]\\^", "..", "a/b", "\x7f", "\xc3", "\xff\xfe", "caf\xc3\xa9"})
        keys.emplace_back(key);
    keys.emplace_back(1, '\0');
    keys.emplace_back("a\0b", 3);
    for (const char byte : {'{', '}', '\0', '\xf0'})
        keys.emplace_back(Key::k_max_bytes, byte);
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace

TEST_CASE("store: peek and start-or-nothing leave everything as it is", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/s");
        CHECK(say(c.peek()) == "start now");
        CHECK_FALSE(c.report().known);
        CHECK(c.keys("*").empty());
        CHECK(say(c.start_or_nothing()) == "start now");  // a start it takes
        c.ask(2);
        const std::string before = text_of(c.report());
        CHECK(c.peek().earliest == 1s);  // a newcomer would stand behind 2
        CHECK(c.peek().number == 0);
        CHECK(c.peek(2).earliest == 500ms);
        CHECK(c.peek(2).number == 1);
        CHECK(c.start_or_nothing().kind == AnswerKind::wait);
        CHECK(text_of(c.report()) == before);
        c.at(450ms);
        CHECK(say(c.peek(2)) == "start in 50ms");
        CHECK(c.report().started == 1);
        CHECK(say(c.ask(2)) == "start in 50ms");
    });
}

TEST_CASE("store: a key left alone is as good as new after its longest period", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/min,burst=8");
        const auto birth_us = c.ask(1).birth_us;
        const StartId first = c.last_id();
        CHECK(c.at(1min).peek().birth_us == birth_us);
        CHECK(c.report().known);
        c.after(1us);
        CHECK_FALSE(c.report().known);
        CHECK(c.keys("*").empty());
        const Answer anew = c.ask_again(1, first);  // under an id that is not remembered any more
        CHECK(say(anew) == "start now");
        CHECK(anew.birth_us == birth_us + 60'000'001);
        CHECK(c.report().started == 1);
        CHECK(c.report().limits.at(0).starts == 1);
    });
}

TEST_CASE("store: pauses and tickets keep a key, cancelled places do not", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        for (const char* key : {"paused", "waiting", "cancelled"}) {
            c.key(key);
            c.ask(1);
        }
        c.key("paused");
        sure(c.store().pause(key_named("paused"), {1h, false, false, ""}));
        c.key("waiting");
        c.ask(2);  // told 25 ms
        c.key("cancelled");
        c.ask(2);
        c.cancel(2);
        CHECK(c.keys("*") == "[cancelled][paused][waiting]");
        CHECK(c.at(1s).keys("*") == "[cancelled][paused][waiting]");
        CHECK(c.after(1us).keys("*") == "[paused][waiting]");
        CHECK(c.at(25ms + 10min).keys("*") == "[paused][waiting]");
        CHECK(c.after(1us).keys("*") == "[paused]");
        CHECK(c.at(1h).keys("*") == "[paused]");
        CHECK(c.after(1us).keys("*").empty());
    });
}

TEST_CASE("store: inspect says all that is known", "[contract]") {
    in_every_store([](Counter& c) {
        const KeyReport nothing = c.report();
        CHECK(text_of(nothing) == text_of(KeyReport{}));
        c.limit("4/s");
        c.ask(1);
        c.at(250ms).ask(2);
        for (TicketId place = 9; place >= 6; --place)
            c.ask_as_caller(place);  // numbers 1 to 4, told 400, 650, 900 and 1150 ms
        Question late = c.question(10);
        late.who.assign(200, 'x');
        late.keep = 1h;
        c.ask(late);
        c.at(550ms);  // 9 is late
        const KeyReport report = c.report();
        CHECK(report.known);
        CHECK(report.terms == terms("4/s"));
        CHECK_FALSE(report.registration.has_value());
        CHECK_FALSE(report.note.has_value());
        REQUIRE(report.limits.size() == 1);
        CHECK(report.limits[0].rate == rate("4/s"));
        CHECK(report.limits[0].starts == 2);
        CHECK(report.limits[0].remaining == 2);
        CHECK(report.places == 0);
        CHECK(report.holding.empty());
        CHECK(report.last_start_age_us == 300'000);
        CHECK(report.started == 2);
        CHECK(report.paused_for == 0s);
        REQUIRE(report.waiting.size() == 5);
        CHECK(report.waiting[0].id == 8);
        CHECK(report.waiting[0].number == 2);
        CHECK(report.waiting[0].caller);
        CHECK(report.waiting[0].who == "job 8");
        CHECK(report.waiting[0].waited == 300ms);
        CHECK(report.waiting[0].asks_in == 100ms);
        CHECK(report.waiting[0].starts_in == 0s);
        CHECK(report.waiting[1].starts_in == 450ms);  // room is kept for 9, which is away
        CHECK(report.waiting[3].id == 10);
        CHECK_FALSE(report.waiting[3].caller);
        CHECK(report.waiting[3].who == std::string(160, 'x'));
        CHECK(report.waiting[4].id == 9);
        CHECK(report.waiting[4].place == Place::away);
        CHECK(report.waiting[4].asks_in == -150ms);
        CHECK(text_of(c.report()) == text_of(report));  // looking changes nothing
        CHECK(text_of(sure(c.store().keys("k")).at(0).report) == text_of(report));
    });
}

TEST_CASE("store: odd keys are keys like others, each its own", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/h");
        std::string all;
        for (const auto& key : odd_keys()) {
            c.key(key);
            CHECK(say(c.ask(1)) == "start now");
            CHECK(c.register_terms("2/h") == "none");
            CHECK(c.ask(2).number == 1);
            CHECK(c.pause(10s).changed);
            all += "[" + key + "]";
        }
        CHECK(c.keys("*") == all);  // in byte order
        for (const auto& key : odd_keys()) {
            c.key(key);
            CHECK(c.report().started == 1);
            CHECK(c.report().waiting.size() == 1);
            CHECK(c.forget(true).forgotten);
            CHECK(c.unregister() == "2/h");
        }
        CHECK(c.keys("*").empty());
    });
}

TEST_CASE("store: keys match a pattern, as bytes", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/h");
        for (const char* key :
             {"github", "gitlab", "a", "b", "c", "a*c", "abc", "[a]", "x\\y", "\xff\xfe", "sms:4"}) {
            c.key(key);
            c.ask(1);
        }
        const std::vector<std::pair<const char*, const char*>> rows = {
            {"git*", "[github][gitlab]"},
            {"?", "[a][b][c]"},
            {"[ab]", "[a][b]"},
            {"[a-b]", "[a][b]"},
            {"[^ab]", "[c]"},
            {"a*c", "[a*c][abc]"},
            {"a\\*c", "[a*c]"},
            {"\\[a\\]", "[[a]]"},
            {"x\\\\y", "[x\\y]"},
            {"*:*", "[sms:4]"},
            {"github", "[github]"},
            {"GITHUB", ""},
            {"git", ""},
            {"\xff*", "[\xff\xfe]"},
            {"", ""},
            {"*b*a*", ""},
        };
        for (const auto& [pattern, found] : rows) {
            INFO(pattern);
            CHECK(c.keys(pattern) == found);
        }
    });
}

TEST_CASE("store: forget leaves a key alone that has tickets in line, unless forced", "[contract]") {
    in_every_store([](Counter& c) {
        CHECK(text_of(c.forget(false)) == "forgotten, unknown");
        c.limit("1/s");
        c.register_terms("1/s");
        const auto birth_us = c.ask(1).birth_us;
        c.ask(2);
        c.pause(1s);
        const KeyReport before = c.at(500ms).report();
        const ForgetAnswer refused = c.forget(false);
        CHECK_FALSE(refused.forgotten);
        CHECK(refused.known);
        REQUIRE(refused.waiting.size() == 1);
        CHECK(refused.waiting[0].id == 2);
        CHECK(refused.waiting[0].who == "job 2");
        CHECK(refused.waiting[0].waited == 500ms);
        CHECK(text_of(c.report()) == text_of(before));
        const ForgetAnswer forced = c.forget(true);
        CHECK(forced.forgotten);
        CHECK(forced.known);
        CHECK(forced.waiting.size() == 1);
        KeyReport left;
        left.known = true;
        left.registration = before.registration;
        left.terms = terms("1/s");
        left.limits = {{rate("1/s"), 0, 1}};
        CHECK(text_of(c.report()) == text_of(left));
        const Answer anew = c.ask(3);
        CHECK(say(anew) == "start now");
        CHECK(anew.birth_us == birth_us + 500'000);
        c.forget(true);
        c.unregister();
        CHECK_FALSE(c.report().known);
    });
}

TEST_CASE("store: tickets that came late are no reason not to forget", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/h");
        c.ask(1);
        const Duration told = c.ask(2).wait;
        CHECK(text_of(c.at(told + 100ms + 1us).forget(false)) == "forgotten, known");
        CHECK_FALSE(c.report().known);
    });
}

TEST_CASE("store: a long line steps out many at a time, and is forgotten at once", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/h");
        c.register_terms("1/h");
        for (TicketId place = 1; place <= 150; ++place)
            c.ask(place);
        const Answer last = c.ask(150);
        CHECK(last.ahead == 148);
        c.at(70s);
        for (int i = 0; i < 3; ++i)
            c.ask(500);
        const auto waiting = c.report().waiting;
        CHECK(waiting.size() == 150);
        CHECK(std::count_if(waiting.begin(), waiting.end(),
                            [](const Waiter& w) { return w.place == Place::out; }) >= 64);
        CHECK(c.forget(true).forgotten);
        CHECK(c.report().waiting.empty());
        CHECK(c.report().started == 0);
        const Answer anew = c.ask(7);
        CHECK(say(anew) == "start now");
        CHECK(anew.registered == terms("1/h"));
        CHECK(anew.birth_us == last.birth_us + 70'000'000);
        CHECK(c.ask(8).number == 1);
        CHECK(c.report().waiting.size() == 1);
    });
}

TEST_CASE("store: when a long line runs out, the note of its pause and what is registered stay",
          "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/min");
        c.register_terms("1/min");
        c.pause(1s, "evidence");
        for (TicketId place = 1; place <= 150; ++place)
            c.ask(place);
        c.at(1h);
        CHECK(say(c.ask(1)) == "start now");
        const KeyReport report = c.report();
        CHECK(report.waiting.empty());
        CHECK(report.started == 1);
        CHECK(report.registration.has_value());
        REQUIRE(report.note.has_value());
        CHECK(report.note->summary == "evidence");
    });
}

}  // namespace jobthrottle::test
