// SPDX-License-Identifier: MIT
// What every store does alike: starts, the waiting line, ids, callers. contract.md section 2.
#include <map>

#include "contract/store_suite_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;
using testing::terms;

struct Start {
    TicketId place;
    Duration at;
    int questions;
};

// Jobs 1, 2, 3 ... that all come at once and ask whenever they were told to, in the order they start.
std::vector<Start> run_line(Counter& c, TicketId jobs) {
    std::multimap<Duration, TicketId> asks;
    for (TicketId place = 1; place <= jobs; ++place)
        asks.emplace(0s, place);
    std::map<TicketId, int> questions;
    std::multimap<Duration, Start> starts;
    while (!asks.empty()) {
        const auto [now, place] = *asks.begin();
        asks.erase(asks.begin());
        const Answer answer = c.at(now).ask(place);
        const int asked = ++questions[place];
        if (answer.kind == AnswerKind::start) {
            starts.emplace(now + answer.wait, Start{place, now + answer.wait, asked});
        } else {
            asks.emplace(now + answer.wait, place);
        }
    }
    std::vector<Start> in_order;
    for (const auto& [at, start] : starts)
        in_order.push_back(start);
    return in_order;
}

}  // namespace

TEST_CASE("store: an idle key lets one start at once, then one every T", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        CHECK(say(c.ask(1)) == "start now");
        CHECK(say(c.ask(2)) == "come back in 25ms");  // due in 125 ms, granted 100 ms ahead
        CHECK(say(c.ask(3)) == "come back in 150ms");
        CHECK(say(c.at(25ms).ask(2)) == "start in 100ms");
        CHECK(say(c.at(165ms).ask(3)) == "start in 85ms");  // late within its grant: still on its slot
        CHECK(say(c.at(375ms).ask(4)) == "start now");
        CHECK(say(c.at(1h).ask(5)) == "start now");
        CHECK(say(c.ask(6)) == "come back in 25ms");  // an hour of idleness is not saved up
    });
}

TEST_CASE("store: a line starts in its order, exactly one T apart, asking twice each", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("7/s");
        const auto starts = run_line(c, 8);
        REQUIRE(starts.size() == 8);
        for (std::int64_t k = 0; k < 8; ++k) {
            const Start& start = starts[static_cast<std::size_t>(k)];
            CHECK(start.place == static_cast<TicketId>(k + 1));
            CHECK(start.at == Duration{(k * 1'000'000 + 6) / 7});
            CHECK(start.questions == (k == 0 ? 1 : 2));
        }
        CHECK(c.report().started == 8);
    });
}

TEST_CASE("store: a place is a position, told with how many stand ahead", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/s");
        const auto birth_us = c.ask(1).birth_us;
        const Answer first = c.ask(2), second = c.ask(3);
        CHECK(first.ahead == 0);
        CHECK(first.number == 1);
        CHECK(first.why == WaitCause::rate);
        CHECK(first.earliest == 1s);
        CHECK(first.birth_us == birth_us);
        CHECK(second.ahead == 1);
        CHECK(second.number == 2);
        CHECK(second.why == WaitCause::line);
        CHECK(second.earliest == 2s);
        CHECK(second.terms == terms("1/s"));
        CHECK_FALSE(second.registered.has_value());
        for (int i = 0; i < 20; ++i)
            c.ask(3);  // asking often moves nobody
        CHECK(c.at(800ms).ask(3).waited == 800ms);
        CHECK(c.ask(3).number == 2);
        CHECK(c.at(900ms).ask(4).earliest == 2'100ms);  // a newcomer does not pass those who wait
        CHECK(say(c.at(950ms).ask(2)) == "start in 50ms");
    });
}

TEST_CASE("store: comes back at the latest after its time, spread by number", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/s");
        c.ask(1);
        for (TicketId place = 2; place <= 30; ++place) {
            const Answer answer = c.ask(place);
            const Duration check{c.site().come_back().count() * (16 + answer.number % 17) / 32};
            CHECK(answer.wait == std::min<Duration>(check, answer.earliest - 100ms));
        }
        c.key("slow");
        c.limit("1/min");
        c.ask(1);
        for (TicketId place = 2; place <= 20; ++place) {
            const Answer answer = c.ask(place);
            CHECK(answer.wait == Duration{15'000'000 * (16 + answer.number % 17) / 32});
        }
    });
}

TEST_CASE("store: a question asked again has the same answer and counts once", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.ask(1);
        CHECK(say(c.at(25ms).ask(2)) == "start in 100ms");
        const StartId id = c.last_id();
        const std::string before = text_of(c.report());
        for (int i = 0; i < 3; ++i)
            CHECK(say(c.ask_again(2, id)) == "start in 100ms");
        CHECK(text_of(c.report()) == before);
        CHECK(say(c.at(65ms).ask_again(2, id)) == "start in 60ms");
        CHECK(say(c.at(500ms).ask_again(3, id)) == "start now");  // over, whatever place it names
        CHECK(c.report().started == 2);
        CHECK(say(c.ask_again(2, 777)) == "start now");  // never arrived before: judged for the first time
        CHECK(say(c.ask_again(2, 777)) == "start now");
        CHECK(c.report().started == 3);
    });
}

TEST_CASE("store: remembers the ids of many starts", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("5000/min,burst=5000");
        std::vector<StartId> ids;
        for (TicketId place = 1; place <= 80; ++place) {
            CHECK(say(c.ask(place)) == "start now");
            ids.push_back(c.last_id());
        }
        for (const StartId id : ids)
            c.ask_again(1, id);
        CHECK(c.report().started == 80);
        CHECK(c.report().limits.at(0).starts == 80);
    });
}

TEST_CASE("store: the window holds where slots would not, half open, to the microsecond", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("3/s,burst=3");
        CHECK(say(c.ask(1)) == "start now");
        CHECK(say(c.at(10ms).ask(2)) == "start now");
        CHECK(say(c.at(20ms).ask(3)) == "start now");
        CHECK(say(c.ask(4)) == "come back in 880ms");
        CHECK(say(c.at(899'999us).ask(4)) == "come back in 1us");
        CHECK(say(c.at(999'999us).ask(4)) == "start in 1us");  // exactly a period after the first
        CHECK(say(c.ask(5)) == "start in 10ms1us");
    });
}

TEST_CASE("store: a burst starts at once, then one every T; full again after an idle period", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("10/s,burst=3");
        for (const Duration begin : {Duration{0s}, Duration{10s}}) {
            c.at(begin);
            for (TicketId place = 1; place <= 3; ++place)
                CHECK(say(c.ask(place)) == "start now");
            CHECK(say(c.ask(4)) == "start in 100ms");
            CHECK(say(c.ask(5)) == "come back in 100ms");
            CHECK(say(c.at(begin + 100ms).ask(5)) == "start in 100ms");
        }
    });
}

TEST_CASE("store: a log of more starts than fit one record of it, and a burst on a young clock",
          "[contract]") {
    in_every_store([](Counter& c) {
        c.begin_at(60'000'000);  // a minute after boot, far less than the period
        c.limit("150/d,burst=150");
        for (TicketId place = 1; place <= 150; ++place)
            CHECK(say(c.after(1ms).ask(place)) == "start now");
        CHECK(c.report().limits.at(0).starts == 150);
        CHECK(c.report().limits.at(0).remaining == 0);
        CHECK(c.ask(151).earliest == 24h - 149ms);
        c.limit("400/d,burst=400");  // the log grows, and keeps what it has
        CHECK(say(c.at(10min).ask(152)) == "start now");
        CHECK(c.report().limits.at(0).starts == 151);
        c.limit("100/d,burst=100");  // the window is judged by the limit that asks
        CHECK(c.at(24h + 40ms).ask_as_caller(153).earliest == 12ms);
    });
}

TEST_CASE("store: a changed limit works at the next question and is told", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("4/s");
        c.ask(1);
        c.limit("8/s");
        CHECK(c.peek().earliest == 125ms);
        c.limit("1/s");
        CHECK(c.peek().earliest == 1s);
        CHECK(c.peek().other == terms("4/s"));
        CHECK(c.ask(2).other == terms("4/s"));
        CHECK_FALSE(c.ask(2).other.has_value());
        CHECK(c.report().terms == terms("1/s"));
    });
}

TEST_CASE("store: a cancelled place frees it for those behind, and cancelling none is fine", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/s");
        for (TicketId place = 1; place <= 4; ++place)
            c.ask(place);
        c.cancel(3);
        c.cancel(3);
        c.cancel(12345);
        CHECK(c.ask(4).earliest == 2s);
        c.cancel(2);
        CHECK(say(c.ask(4)) == "come back in 900ms");
        c.cancel(4);
        CHECK(c.report().waiting.empty());
        CHECK(say(c.ask(9)) == "come back in 900ms");  // as if nobody had been there
        c.key("never asked");
        c.cancel(1);
        CHECK_FALSE(c.report().known);
    });
}

TEST_CASE("store: more than 100 ms late steps out, keeps its number and holds nobody up", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/s");
        c.ask(1);
        c.ask(2);  // told 900 ms
        c.ask_as_caller(3);
        CHECK(c.at(1s).report().waiting.at(0).place == Place::in_line);
        CHECK(c.after(1us).report().waiting.at(1).place == Place::out);
        CHECK(say(c.ask(3)) == "start now");
        c.ask(4);
        CHECK(c.ask(2).ahead == 0);  // judged by its number again: before 4, which came later
        CHECK(c.ask(4).ahead == 1);
    });
}

TEST_CASE("store: a ticket is forgotten ten minutes after the time it was told", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1/h");
        c.ask(1);
        const Duration told = c.ask(2).wait;
        CHECK(c.at(told + 10min).report().waiting.size() == 1);
        CHECK(c.ask(2).number == 1);
        const Duration again = told + 10min + c.ask(2).wait;
        CHECK(c.at(again + 10min + 1us).report().waiting.empty());
        CHECK(c.ask(2).number == 2);
    });
}

TEST_CASE("store: a caller is told the true time, and room is kept for one that is away", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("2/s");
        c.ask(1);
        CHECK(say(c.ask_as_caller(2)) == "come back in 400ms");
        CHECK(say(c.ask_as_caller(3)) == "come back in 900ms");
        CHECK(say(c.ask_as_caller(4)) == "come back in 1s400ms");
        const KeyReport report = c.at(1'010ms).report();
        CHECK(report.waiting.at(1).place == Place::away);
        CHECK(report.waiting.at(2).place == Place::away);
        // Two starts fit the window, one of them is for a caller.
        CHECK(say(c.at(1'100ms).ask_as_caller(4)) == "start now");
        CHECK(say(c.at(1'500ms).ask(5)) == "come back in 500ms");
        CHECK(say(c.at(1'550ms).ask_as_caller(2)) == "start in 50ms");
        c.key("hour");
        c.limit("1/h");
        c.ask(1);
        CHECK(say(c.ask_as_caller(2)) == "come back in 59m59s900ms");
        CHECK(say(c.after(1h - 100ms).ask_as_caller(2)) == "start in 100ms");
    });
}

TEST_CASE("store: a caller's ticket is kept as long as it asked for", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("8/s");
        c.ask(1);
        c.ask_as_caller(2, 120s);  // told 25 ms
        c.ask_as_caller(3, 50ms);  // told 150 ms
        CHECK(c.at(200ms).report().waiting.size() == 2);
        CHECK(c.after(1us).report().waiting.size() == 1);
        CHECK(c.at(120'025ms).report().waiting.at(0).place == Place::away);
        CHECK(c.after(1us).report().waiting.empty());
    });
}

}  // namespace jobthrottle::test
