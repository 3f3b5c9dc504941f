// SPDX-License-Identifier: MIT
// What every store does alike: jobs that several keys must let start. contract.md sections 1 and 11.
#include "contract/store_suite_support.hpp"
#include "store/one_by_one.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;

std::string said_to(const std::vector<Answer>& answers) {
    std::string text;
    for (const auto& answer : answers)
        text += (text.empty() ? "" : " | ") + say(answer);
    return text;
}

KeyReport report_of(Counter& c, const std::string& key) {
    c.key(key);
    return c.report();
}

}  // namespace

TEST_CASE("store: a job of several keys starts on all of them or on none", "[contract]") {
    in_every_store([](Counter& c) {
        c.usual().caller = true;
        const std::vector<Counter::KeyLimit> keys = {{"a", "1/10s"}, {"b", "10/s"}};
        CHECK(said_to(c.ask(keys, 1)) == "start now | start now");
        const auto held = c.ask(keys, 2);
        CHECK(said_to(held) == "come back in 9s900ms | come back in 9s900ms");
        CHECK(held[0].number == 1);
        CHECK(held[1].number == 1);
        CHECK(report_of(c, "a").waiting.at(0).place == Place::in_line);
        const KeyReport on_b = report_of(c, "b");
        CHECK(on_b.waiting.at(0).place == Place::away);
        CHECK(on_b.started == 1);
        CHECK(on_b.limits.at(0).starts == 1);
        c.limit("10/s");  // on b, which 2 holds up no longer than it must
        CHECK(say(c.at(500ms).ask(9)) == "start now");
        CHECK(said_to(c.at(9'900ms).ask(keys, 2)) == "start in 100ms | start in 100ms");
        CHECK(report_of(c, "a").started == 2);
        CHECK(report_of(c, "b").started == 3);
        CHECK(c.report().waiting.empty());
    });
}

TEST_CASE("store: a key that would let a job start keeps room for it while another does not", "[contract]") {
    in_every_store([](Counter& c) {
        c.usual().caller = true;
        const std::vector<Counter::KeyLimit> keys = {{"a", "1/10s"}, {"b", "2/s"}};
        c.ask(keys, 1);
        c.ask(keys, 2);
        c.key("b");
        c.limit("2/s");
        CHECK(say(c.at(600ms).peek()) == "start now");  // out of the way of 2, which comes in 9.3 s
        CHECK(say(c.at(9s).ask(9)) == "start now");
        CHECK(c.at(9'500ms).peek().earliest == 500ms);  // two fit the window, one of them is for 2
        CHECK(c.at(9'900ms).ask(keys, 2).at(1).kind == AnswerKind::start);
    });
}

TEST_CASE("store: the starts of a job on its keys are at one time", "[contract]") {
    in_every_store([](Counter& c) {
        const std::vector<Counter::KeyLimit> keys = {
            {"slow", "1/s"}, {"fast", "10/s"}, {"none", "2 at once"}};
        c.ask(keys, 1);
        CHECK(said_to(c.at(950ms).ask(keys, 2)) == "start in 50ms | start in 50ms | start in 50ms");
        CHECK(report_of(c, "none").holding.at(1).left == 60s + 50ms);
        CHECK(c.at(1s).report().last_start_age_us == 0);
        CHECK(report_of(c, "fast").last_start_age_us == 0);
        CHECK(report_of(c, "slow").last_start_age_us == 0);
    });
}

TEST_CASE("store: a job asked again after a lost reply counts once on each key", "[contract]") {
    in_every_store([](Counter& c) {
        const std::vector<Counter::KeyLimit> keys = {{"a", "2/h, 3 at once"}, {"b", "8/s"}};
        Question q = c.question(1);
        const auto first = c.ask(keys, q);
        CHECK(said_to(first) == "start now | start now");
        CHECK(first[0].leased);
        CHECK_FALSE(first[1].leased);
        q.fresh = false;
        CHECK(said_to(c.ask(keys, q)) == "start now | start now");
        CHECK(c.ask(keys, q).at(0).leased);
        // One key has forgotten it.
        c.key("b");
        CHECK(c.forget(true).forgotten);
        CHECK(said_to(c.after(1s).ask(keys, q)) == "start now | start now");
        CHECK(report_of(c, "a").started == 1);
        CHECK(c.report().places == 1);
        CHECK(report_of(c, "b").started == 1);
    });
}

TEST_CASE("store: one key that can never let a job start keeps the others from taking anything",
          "[contract]") {
    in_every_store([](Counter& c) {
        c.key("held");
        c.limit("1 at once");
        const LeaseId holds = c.start(1);
        CHECK(c.ask({{"a", "8/s"}, {"b", ""}}, 2).at(1).kind == AnswerKind::no_limit);
        Question q = c.question(2);
        q.cost = 9;
        CHECK(c.ask({{"a", "10/s"}, {"b", "8/s"}}, q).at(1).kind == AnswerKind::too_costly);
        q.cost = 1;
        q.ancestors = {holds};
        CHECK(c.ask({{"held", "1 at once"}, {"a", "8/s"}}, q).at(0).kind == AnswerKind::nested);
        q.ancestors.clear();
        c.ask(3);
        q.max_waiting = 1;
        const auto crowded = c.ask({{"a", "8/s"}, {"held", "1 at once"}}, q);
        CHECK(crowded[0].kind == AnswerKind::wait);
        CHECK(crowded[1].kind == AnswerKind::crowded);
        CHECK(c.keys("*") == "[held]");
    });
}

TEST_CASE("store: to look at several keys, or to ask without a place, changes nothing", "[contract]") {
    in_every_store([](Counter& c) {
        const std::vector<Counter::KeyLimit> keys = {{"a", "1/s"}, {"b", "1 at once"}};
        Question q = c.question(1);
        q.taking = Taking::nothing;
        CHECK(said_to(c.ask(keys, q)) == "start now | start now");
        CHECK(c.keys("*").empty());
        c.ask(keys, 2);
        const std::string before = text_of(report_of(c, "a")) + text_of(report_of(c, "b"));
        CHECK(c.ask(keys, q).at(1).why == WaitCause::lease);
        q.taking = Taking::start;
        CHECK(c.ask(keys, q).at(0).kind == AnswerKind::wait);
        CHECK(text_of(report_of(c, "a")) + text_of(report_of(c, "b")) == before);
    });
}

TEST_CASE("store: jobs that name their keys in opposite orders start one after the other", "[contract]") {
    in_every_store([](Counter& c) {
        const std::vector<Counter::KeyLimit> forth = {{"a", "1 at once"}, {"b", "1 at once"}},
                                             back = {{"b", "1 at once"}, {"a", "1 at once"}};
        CHECK(said_to(c.ask(forth, 1)) == "start now | start now");
        for (TicketId place = 2; place <= 4; ++place) {
            const LeaseId holds = c.last_id();
            const auto ours = c.ask(place % 2 == 0 ? back : forth, place);
            CHECK(ours[0].kind == AnswerKind::wait);
            CHECK(ours[1].kind == AnswerKind::wait);
            CHECK(c.ask(place % 2 == 0 ? forth : back, 99).at(0).kind == AnswerKind::wait);
            for (const char* key : {"a", "b"}) {
                c.key(key);
                CHECK(c.release(holds).state == LeaseState::held);
            }
            CHECK(c.ask(forth, 99).at(0).kind == AnswerKind::wait);
            CHECK(said_to(c.ask(back, place)) == "start now | start now");
            c.key("a");
            c.cancel(99);
            c.key("b");
            c.cancel(99);
        }
    });
}

TEST_CASE("store: many keys of many limits in one question", "[contract]") {
    in_every_store([](Counter& c) {
        const char* limits = "9/s, 80/min, 1000/h and 9000/d, 2 at once";
        const std::vector<Counter::KeyLimit> keys = {{"a", limits}, {"b", limits}, {"c", limits},
                                                     {"d", limits}, {"e", limits}, {"f", limits},
                                                     {"g", limits}, {"h", limits}};
        for (TicketId place = 1; place <= 3; ++place) {
            const auto answers =
                c.at(Duration{1'000'000 * static_cast<std::int64_t>(place)}).ask(keys, place);
            REQUIRE(answers.size() == keys.size());
            for (const auto& answer : answers)
                CHECK(say(answer) == (place < 3 ? "start now" : say(answers[0])));
            CHECK((answers[0].why == WaitCause::lease) == (place == 3));
        }
        for (const auto& one : keys)
            CHECK(report_of(c, one.key).started == 2);
    });
}

TEST_CASE("store: keys that are asked one by one let a job start on all of them or on none", "[contract]") {
    in_every_store([](Counter& c) {
        const auto ask = [&](TicketId place) {
            Question q = c.question(place);
            q.terms = testing::terms("1 at once");
            return sure(ask_one_by_one({{key_named("b"), q}, {key_named("a"), q}},
                                       [&](const Key&) -> Store& { return c.store(); }));
        };
        c.key("a");
        c.limit("1 at once");
        const LeaseId alone = c.start(1);
        const auto held = ask(2);
        CHECK(held[0].kind == AnswerKind::wait);
        CHECK(held[1].kind == AnswerKind::wait);
        CHECK(held[0].wait == held[1].wait);
        CHECK(held[1].wake == 1);
        CHECK(report_of(c, "b").places == 0);
        CHECK(c.report().waiting.at(0).place == Place::away);
        c.key("a");
        c.release(alone);
        CHECK(said_to(ask(2)) == "start now | start now");
        for (const char* key : {"a", "b"}) {
            const KeyReport report = report_of(c, key);
            CHECK(report.places == 1);
            CHECK(report.waiting.empty());
            CHECK(report.holding.at(0).id == c.last_id());
        }
    });
}

}  // namespace jobthrottle::test
