// SPDX-License-Identifier: MIT
// What every store does alike: clocks that step, prefixes, rest() and hurry(). contract.md sections 2 and 8.
#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;

Question first_of(const std::string& limit, TicketId place) {
    Question q;
    q.id = q.place = place;
    q.terms = testing::terms(limit);
    return q;
}

}  // namespace

TEST_CASE("store: a clock that steps back an hour holds nobody", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.ask(1);
        c.ask_as_caller(2);
        c.pause(2s);
        c.at(1s).ask_as_caller(2);
        c.at(1s - 1h);
        CHECK(say(c.ask_as_caller(2)) == "come back in 1s");
        CHECK(c.report().paused_for == 1s);
        c.after(1s);
        CHECK(say(c.ask(2)) == "start now");
        CHECK(say(c.ask(3)) == "come back in 25ms");
    });
}

TEST_CASE("store: steps forward and back again lose no start of the window", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("3/h,burst=3");
        for (TicketId place = 1; place <= 3; ++place)
            CHECK(say(c.ask(place)) == "start now");
        CHECK(c.at(30min).ask_as_caller(4).earliest == 30min);
        c.at(-30min);  // seen behind the last time seen: time stands still for the key
        CHECK(c.peek(4).earliest == 30min);
        CHECK(c.report().limits.at(0).starts == 3);
        CHECK(c.at(-1us).peek(4).earliest == 1us);
        CHECK(c.at(0s).peek(4).earliest == 0s);
        CHECK(say(c.ask(4)) == "start now");
    });
}

TEST_CASE("store: an hour forward makes everybody late and nobody lost", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/s");
        c.ask(1);
        for (TicketId place = 2; place <= 4; ++place)
            c.ask(place);
        c.at(5min);
        CHECK(say(c.ask(4)) == "start now");  // those who come first go first
        CHECK(say(c.ask(2)) == "come back in 900ms");
        CHECK(c.ask(3).earliest == 2s);
        c.at(1h);
        const Answer late = c.ask(3);  // its ticket is forgotten, and the key with it
        CHECK(say(late) == "start now");
        CHECK(c.report().started == 1);
    });
}

TEST_CASE("store: keys have clocks of their own", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/s");
        c.at(1h).ask(1);
        c.at(0s).ask(2);
        c.key("other");
        c.ask(1);
        CHECK(c.at(10ms).ask(2).earliest == 990ms);
        c.key("k");
        CHECK(c.ask(2).earliest == 990ms);
        CHECK(c.ask(2).waited == 10ms);
    });
}

TEST_CASE("store: lists many keys, of which some have run out", "[contract]") {
    in_every_store([](Counter& c) {
        for (int i = 0; i < 150; ++i) {
            c.limit(i % 3 == 0 ? "2/h" : "2/s");
            c.key("key " + std::to_string(i));
            c.ask(1);
        }
        CHECK(sure(c.store().keys("key *")).size() == 150);
        c.at(2s);
        CHECK(sure(c.store().keys("key *")).size() == 50);
    });
}

TEST_CASE("store: prefixes are apart", "[contract]") {
    in_every_store([](Counter& c) {
        const Key key = key_named("k");
        const std::vector<std::string> prefixes = {"one",   "One",   "on",      "o*",
                                                   "o[n]e", "o\\ne", "a b:{c}", "%6fne"};
        c.limit("2/h");
        CHECK(say(c.ask(1)) == "start now");
        for (const auto& prefix : prefixes) {
            INFO(prefix);
            Store& store = c.site().open(prefix);
            CHECK(sure(store.keys("*")).empty());
            CHECK(say(sure(store.ask(key, first_of("2/h", 1)))) == "start now");
            CHECK(sure(store.ask(key, first_of("2/h", 2))).kind == AnswerKind::wait);
        }
        CHECK(c.forget(true).forgotten);
        sure(c.site().open("one").pause(key, {1h, false, false, ""}));
        for (const auto& prefix : prefixes) {
            INFO(prefix);
            const KeyReport report = sure(c.site().open(prefix).inspect(key));
            CHECK(report.started == 1);
            CHECK(report.waiting.size() == 1);
            CHECK(report.paused_for == (prefix == "one" ? Duration{1h} : Duration{0s}));
            CHECK(sure(c.site().open(prefix).keys("*")).size() == 1);
        }
        CHECK(c.keys("*").empty());
    });
}

TEST_CASE("store: rest at any time is of no consequence", "[contract]") {
    in_every_store([](Counter& c) {
        c.store().rest();
        c.store().rest();
        c.limit("1/s");
        c.ask(1);
        c.store().rest();
        CHECK(c.ask(2).earliest == 1s);
        c.store().rest();
        c.store().rest();
        CHECK(c.report().waiting.size() == 1);
        CHECK(c.keys("*") == "[k]");
        c.store().rest();
    });
}

TEST_CASE("store: in a hurry it answers as ever", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/s");
        c.ask(1);
        c.ask(2);
        c.store().hurry(30s);
        c.store().hurry(30s);
        c.cancel(2);
        CHECK(c.report().waiting.empty());
        c.store().rest();
        CHECK(say(c.ask(3)) == "come back in 900ms");
        c.store().hurry(1h);  // never longer than before
        CHECK(say(c.at(950ms).ask(3)) == "start in 50ms");
    });
}

TEST_CASE("store: each has a name, without a password", "[contract]") {
    in_every_store([](Counter& c) {
        const std::string name = c.store().name();
        CHECK(name.find(':') != std::string::npos);
        CHECK(c.store().name() == name);
    });
}

}  // namespace jobthrottle::test
