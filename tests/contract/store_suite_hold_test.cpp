// SPDX-License-Identifier: MIT
// What every store does alike: looking with a place kept, and starts given back, for keys that no one
// decision covers (lib/store/one_by_one.hpp); forgetting with leases; keys that idle.
#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;

Answer hold(Counter& c, TicketId place) {
    Question q = c.question(place);
    q.hold = true;
    return c.ask(q);
}

}  // namespace

TEST_CASE("store: a question that holds back takes no start and keeps its place", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/s, 1 at once");
        const Answer first = hold(c, 1);
        CHECK(say(first) == "start now");
        CHECK(first.number == 1);
        CHECK_FALSE(first.leased);
        const KeyReport report = c.report();
        CHECK(report.started == 0);
        CHECK(report.places == 0);
        REQUIRE(report.waiting.size() == 1);
        CHECK(report.waiting[0].place == Place::away);
        CHECK(report.waiting[0].caller);
        CHECK(hold(c, 1).number == 1);
        const Answer started = c.ask(1);
        CHECK(say(started) == "start now");
        CHECK(started.number == 1);
        CHECK(started.leased);
        CHECK(c.report().waiting.empty());
        CHECK(hold(c, 2).kind == AnswerKind::wait);  // as any other
        CHECK(c.report().waiting.at(0).place == Place::in_line);
    });
}

TEST_CASE("store: a held place is kept for a while after the time it was told", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("100/s");
        c.usual().keep = 5s;
        hold(c, 1);
        const Duration told = c.report().waiting.at(0).asks_in;
        CHECK(told > 0s);
        CHECK(c.at(told + 120s).report().waiting.size() == 1);  // no shorter than a caller's
        CHECK(c.after(1us).report().waiting.empty());
    });
}

TEST_CASE("store: a start that is given back is as if it had not been, and its place is", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/h, 2 at once");
        hold(c, 1);
        const LeaseId id = (c.after(30ms), c.start(1));
        GiveBack back;
        back.id = id;
        back.place = 1;
        back.number = 1;
        back.waited = 30ms;
        back.who = std::string(200, 'y');
        CHECK(c.give_back(back));
        CHECK_FALSE(c.give_back(back));
        const KeyReport report = c.report();
        CHECK(report.limits.at(0).starts == 0);
        CHECK(report.places == 0);
        CHECK(report.holding.empty());
        REQUIRE(report.waiting.size() == 1);
        CHECK(report.waiting[0].id == 1);
        CHECK(report.waiting[0].place == Place::away);
        CHECK(report.waiting[0].caller);
        CHECK(report.waiting[0].number == 1);
        CHECK(report.waiting[0].waited == 30ms);
        CHECK(report.waiting[0].who == std::string(160, 'y'));
        CHECK(c.release(id).state == LeaseState::unknown);
        const Answer anew = c.ask_again(1, id);  // under an id that counts for nothing any more
        CHECK(say(anew) == "start now");
        CHECK(anew.leased);
        CHECK(c.ask(2).earliest == 1h);
    });
}

TEST_CASE("store: what is given back is what it cost, and no place where there was none", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("10/s");
        Question q = c.question(1);
        q.cost = 4;
        c.ask(q);
        c.after(400ms).ask_costing(2, 5);
        CHECK(c.ask(3).earliest == 500ms);
        GiveBack back;
        back.id = q.id;
        back.cost = 4;
        back.place = 1;
        CHECK(c.give_back(back));
        const KeyReport report = c.report();
        CHECK(report.limits.at(0).starts == 5);
        CHECK(report.started == 2);
        REQUIRE(report.waiting.size() == 1);
        CHECK(report.waiting[0].id == 3);
        CHECK(c.ask(3).earliest == 100ms);
        back.id = 12345;
        CHECK_FALSE(c.give_back(back));
        c.key("never asked");
        CHECK_FALSE(c.give_back(back));
        CHECK_FALSE(c.report().known);
    });
}

TEST_CASE("store: an id that was given back is forgotten, however often it was used", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("30/h,burst=30");
        for (TicketId place = 1; place <= 17; ++place)
            c.start(place);
        Question q = c.question(20);
        for (int i = 0; i < 2; ++i)
            CHECK(say(c.ask(q)) == "start now");  // it says that it is fresh, wrongly
        CHECK(c.report().limits.at(0).starts == 19);
        GiveBack back;
        back.id = q.id;
        CHECK(c.give_back(back));
        CHECK_FALSE(c.give_back(back));
        CHECK(c.report().limits.at(0).starts == 18);
    });
}

TEST_CASE("store: a place that is given back is offered to the next", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        const LeaseId id = c.start(1);
        CHECK(c.ask(2).wake == 1);
        GiveBack back;
        back.id = id;
        back.place = 1;
        CHECK(c.give_back(back));
        CHECK(c.report().waiting.at(0).offered);
        CHECK(say(c.ask(2)) == "start now");
    });
}

TEST_CASE("store: forget leaves a key alone whose leases are held, unless forced", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2 at once");
        c.usual().lock_for = 10s;
        const LeaseId id = c.start(1);
        c.start(2);
        c.ask(3);
        const KeyReport before = c.at(50ms).report();
        const ForgetAnswer refused = c.forget(false);
        CHECK_FALSE(refused.forgotten);
        CHECK(refused.known);
        CHECK(refused.waiting.size() == 1);
        REQUIRE(refused.holding.size() == 2);
        CHECK(refused.holding[0].id == id);
        CHECK(refused.holding[0].who == "job 1");
        CHECK(refused.holding[0].age == 50ms);
        CHECK(text_of(c.report()) == text_of(before));
        c.cancel(3);
        CHECK_FALSE(c.forget(false).forgotten);
        const ForgetAnswer forced = c.forget(true);
        CHECK(forced.forgotten);
        CHECK(forced.holding.size() == 2);
        CHECK_FALSE(c.report().known);
        CHECK(c.renew(id).state == LeaseState::unknown);
        CHECK(say(c.ask(4)) == "start now");
    });
}

TEST_CASE("store: leases that ran out are no reason not to forget", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2 at once");
        c.usual().lock_for = 10s;
        const LeaseId id = c.start(1);
        CHECK(c.at(10s).forget(false).holding.size() == 1);
        const ForgetAnswer done = c.after(1us).forget(false);
        CHECK(done.forgotten);
        CHECK(done.holding.empty());
        CHECK_FALSE(c.report().known);
        CHECK(c.release(id).state == LeaseState::unknown);
    });
}

TEST_CASE("store: leases keep a key, also for a while after they ran out, and released ones do not",
          "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().lock_for = 10s;
        for (const char* key : {"released", "ran out", "renewed"}) {
            c.key(key);
            const LeaseId id = c.start(1);
            if (key == std::string("released")) c.release(id);
            if (key == std::string("renewed")) c.renew(id, 1h);
        }
        CHECK(c.keys("*") == "[ran out][released][renewed]");
        CHECK(c.at(1s + 1us).keys("*") == "[ran out][renewed]");
        CHECK(c.at(10s + 10min).keys("*") == "[ran out][renewed]");
        CHECK(c.after(1us).keys("*") == "[renewed]");
        CHECK(c.at(1h).report().places == 1);
        CHECK(c.at(1h + 10min).keys("*") == "[renewed]");
        CHECK(c.after(1us).keys("*").empty());
        c.key("renewed");
        CHECK_FALSE(c.report().known);
        CHECK(c.renew(1).state == LeaseState::unknown);
        CHECK(c.keys("*").empty());
    });
}

}  // namespace jobthrottle::test
