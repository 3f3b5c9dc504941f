// SPDX-License-Identifier: MIT
// Counting successes: a failed attempt is given back, one under way counts. contract.md section 1, --count.
#include <algorithm>

#include "support/catch.hpp"
#include "support/line_simulation.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

Desk successes(const std::string& limit) {
    Desk desk(limit);
    desk.usual().count_successes = true;
    desk.usual().lock_for = 1h;
    return desk;
}

}  // namespace

TEST_CASE("successes: a plain window, whatever burst was asked for", "[unit]") {
    Desk desk = successes("3/min");
    for (TicketId place = 1; place <= 3; ++place) {
        const Answer answer = desk.ask(place);
        CHECK(say(answer) == "start now");
        CHECK(answer.leased);
        CHECK(answer.places == 0);  // nobody waits for its end
    }
    CHECK(desk.ask(4).kind == AnswerKind::wait);
    CHECK(desk.header().open == 3);
    CHECK(desk.ask(4).terms == terms("3/min,burst=3"));
}

TEST_CASE("successes: a failed attempt is as if it had not been, at once and exactly", "[unit]") {
    Desk desk = successes("3/min");
    std::vector<LeaseId> ids;
    for (TicketId place = 1; place <= 3; ++place) {
        desk.at(std::chrono::seconds{place}).ask(place);
        ids.push_back(desk.last_id());
    }
    CHECK(desk.ask(4).kind == AnswerKind::wait);
    CHECK(desk.ask(5).kind == AnswerKind::wait);
    desk.at(3'500ms);
    CHECK(say(desk.fail(ids[1]).state) == "held");
    CHECK(desk.woken() == std::vector<TicketId>{4});
    CHECK(desk.report().limits.at(0).starts == 2);
    CHECK(say(desk.ask(4)) == "start now");
    CHECK(desk.ask(5).kind == AnswerKind::wait);
    CHECK(desk.woken().empty());
    CHECK(say(desk.fail(ids[1]).state) == "unknown");  // once
    CHECK(desk.ask(5).kind == AnswerKind::wait);
    // The first succeeds: its start of 1 s counts for a minute.
    CHECK(say(desk.release(ids[0]).state) == "held");
    CHECK(desk.at(60'999ms).ask(5).kind == AnswerKind::wait);
    CHECK(say(desk.at(61s).ask(5)) == "start now");
}

TEST_CASE("successes: one under way counts also when it is older than the window", "[unit]") {
    Desk desk = successes("2/10s");
    desk.ask(1);
    const LeaseId first = desk.last_id();
    desk.ask(2);
    const LeaseId second = desk.last_id();
    desk.at(1s).release(second);
    // At 10 s the second leaves the window, the first does not.
    CHECK(desk.at(9'950ms).ask(3).kind == AnswerKind::wait);
    CHECK(desk.at(9'999'999us).ask(3).kind == AnswerKind::wait);
    CHECK(say(desk.at(10s).ask(3)) == "start now");
    desk.release(desk.last_id());
    CHECK(desk.at(15s).ask(4).kind == AnswerKind::wait);
    CHECK(say(desk.at(20s).ask(4)) == "start now");
    CHECK(desk.ask(5).kind == AnswerKind::wait);
    CHECK(desk.header().open == 2);
    // It succeeds at last, and its start is long over.
    desk.woken();
    CHECK(say(desk.at(20'500ms).release(first).state) == "held");
    CHECK(desk.woken() == std::vector<TicketId>{5});
    CHECK(say(desk.ask(5)) == "start now");
}

TEST_CASE("successes: no start is granted ahead over the end of the window of one under way", "[unit]") {
    for (const bool over : {false, true}) {
        Desk desk = successes("1/10s");
        desk.ask(1);
        const LeaseId id = desk.last_id();
        if (over) desk.release(id);
        const Answer answer = desk.at(9'950ms).ask(2);
        CHECK(say(answer) == (over ? "start in 50ms" : "come back in 50ms"));
        if (over) continue;
        CHECK(desk.at(10s).ask(2).kind == AnswerKind::wait);
        CHECK(desk.at(30s).ask(2).kind == AnswerKind::wait);
        desk.fail(id);
        CHECK(say(desk.ask(2)) == "start now");
    }
}

TEST_CASE("successes: who waits is told when the window opens, or comes back to look", "[unit]") {
    Desk desk = successes("1/min");
    desk.ask(1);
    const Answer waits = desk.ask(2);
    CHECK(waits.why == WaitCause::lease);
    CHECK(waits.earliest == 1min);
    CHECK(waits.wait <= 2s);
    CHECK(waits.wake == 1);
    desk.release(desk.last_id() - 1);
    const Answer later = desk.at(2s).ask(2);
    CHECK(later.why == WaitCause::rate);
    CHECK(later.earliest == 58s);
    CHECK(later.wake == 0);
}

TEST_CASE("successes: who is told to wait is not woken by being told", "[unit]") {
    // A place is free all the time, the window is what is full.
    Desk desk = successes("1/min, 3 at once");
    desk.ask(1);
    const LeaseId first = desk.last_id();
    for (int i = 0; i < 3; ++i) {
        CHECK(desk.ask(2).kind == AnswerKind::wait);
        CHECK(desk.ask(3).kind == AnswerKind::wait);
        CHECK(desk.woken().empty());
    }
    desk.fail(first);
    CHECK(desk.woken() == std::vector<TicketId>{2, 3});
}

TEST_CASE("successes: an attempt whose holder is gone no longer counts as under way", "[unit]") {
    Desk desk = successes("1/10s");
    desk.usual().lock_for = 30s;
    desk.ask(1);
    CHECK(desk.at(20s).ask(2).kind == AnswerKind::wait);
    CHECK(desk.at(30s).ask(2).kind == AnswerKind::wait);
    CHECK(say(desk.at(30s + 1us).ask(2)) == "start now");

    Desk seen = successes("1/10s");
    seen.ask(1);
    seen.at(20s).ask(2);
    seen.records().know_life([](const Lease&) { return HolderLife::dead; });
    CHECK(say(seen.ask(2)) == "start now");
}

TEST_CASE("successes: given back also when its lease had run out, and from a large window", "[unit]") {
    Desk desk = successes("2/h");
    desk.usual().lock_for = 30s;
    desk.ask(1);
    const LeaseId lost = desk.last_id();
    desk.ask(2);
    CHECK(desk.at(1min).ask(3).kind == AnswerKind::wait);
    CHECK(say(desk.fail(lost).state) == "lost");
    CHECK(say(desk.ask(3)) == "start now");

    Desk large = successes("10000/h");
    for (int i = 0; i < 10'000; ++i)
        REQUIRE(large.ask(1).kind == AnswerKind::start);
    large.at(5min);
    CHECK(large.ask(2).kind == AnswerKind::wait);
    for (LeaseId id = 1; id <= 9'000; ++id)
        large.fail(id);
    int again = 0;
    while (again <= 9'000 && large.ask(2).kind == AnswerKind::start)
        ++again;
    CHECK(again <= 9'000);
    CHECK(again >= 8'990);
}

TEST_CASE("successes: with half of them failing, no window has more than N, and all are done soon",
          "[unit]") {
    SimPlan plan;
    plan.limit = "5/2s";
    plan.count_successes = true;
    plan.jobs.resize(60);
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
        plan.jobs[i].holds = Duration{100'000 + 37'000 * static_cast<std::int64_t>(i % 90)};
        plan.jobs[i].fails = i % 2 == 0;
    }
    const SimResult result = simulate(plan);
    REQUIRE(result.starts.size() == 60);
    // At any start: those of the last two seconds that did not fail before, and those under way.
    for (const auto& start : result.starts) {
        const auto counts = [&](const SimStart& other) {
            if (other.after > start.after || (plan.jobs[other.job].fails && other.ends < start.after))
                return false;
            return other.after + 2s > start.after || other.ends > start.after;
        };
        CHECK(std::count_if(result.starts.begin(), result.starts.end(), counts) <= 5);
    }
    CHECK(result.last() < 40s);
    CHECK(result.most_asked_in(1s) < 300);
}
