// SPDX-License-Identifier: MIT
// One job that several keys must let start. contract.md sections 1 and 2.
#include <algorithm>
#include <functional>

#include "support/catch.hpp"
#include "support/line_simulation.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

struct Two {
    Desk a, b;
    Two(const std::string& limit_a, const std::string& limit_b, Duration come_back = 60s)
        : a(limit_a, come_back), b(limit_b, come_back) {}
    Two& at(Duration when) {
        a.at(when);
        b.at(when);
        return *this;
    }
    std::vector<Answer> ask(TicketId place) { return ask_together({&a, &b}, place); }
    std::string said(TicketId place) {
        const auto answers = ask(place);
        return say(answers[0]) + ", " + say(answers[1]);
    }
};

// Jobs that only one key has to let start, so many in line at once and then one more for each slot.
void add_line(SimPlan& plan, std::size_t key, std::size_t jobs, std::size_t in_line, Duration apart,
              Duration holds = 0s) {
    for (std::size_t i = 0; i < jobs; ++i) {
        SimJob job;
        job.keys = {key};
        job.holds = holds;
        if (i > in_line) job.arrives = apart * static_cast<std::int64_t>(i - in_line);
        plan.jobs.push_back(job);
    }
}

void add_pairs(SimPlan& plan, std::size_t jobs, Duration arrive, Duration holds = 0s) {
    for (std::size_t i = 0; i < jobs; ++i) {
        SimJob job;
        job.keys = i % 2 == 0 ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{1, 0};
        job.arrives = arrive;
        job.holds = holds;
        plan.jobs.push_back(job);
    }
}

Duration last_of(const SimPlan& plan, const SimResult& result, const std::vector<std::size_t>& keys) {
    Duration last{};
    for (const auto& start : result.starts)
        if (plan.jobs[start.job].keys == keys) last = std::max(last, start.after);
    return last;
}

std::int64_t most_at_once(const SimPlan& plan, const SimResult& result, std::size_t key) {
    SimResult of_key;
    for (const auto& start : result.starts) {
        const auto& keys = plan.jobs[start.job].keys;
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) of_key.starts.push_back(start);
    }
    return of_key.most_at_once();
}

}  // namespace

TEST_CASE("several keys: all let it start, and each of them counts it", "[unit]") {
    Two keys("8/s", "5/min");
    CHECK(keys.said(1) == "start now, start now");
    CHECK(keys.a.header().recent_total == 1);
    CHECK(keys.b.header().recent_total == 1);
    CHECK(keys.at(125ms).said(2) == "come back in 11s775ms, come back in 11s775ms");
    CHECK(keys.a.header().recent_total == 1);  // nothing was taken
    CHECK(keys.a.report().limits.at(0).starts == 1);
}

TEST_CASE("several keys: the start is at one moment, when the last of them allows it", "[unit]") {
    Two keys("8/s", "4/s");
    keys.ask(1);
    CHECK(keys.at(175ms).said(2) == "start in 75ms, start in 75ms");
    CHECK(keys.a.header().last_start_us == keys.b.header().last_start_us);
    CHECK(keys.a.header().last_start_us == Desk::k_begin_us + 250'000);
    // The slot of the other stays where it was: the next one there is not later for it.
    CHECK(keys.at(500ms).said(3) == "start now, start now");
}

TEST_CASE("several keys: nothing is granted further ahead than the shortest period of them", "[unit]") {
    Two keys("4/s", "1000/5ms,burst=1000");
    keys.ask(1);
    CHECK(keys.at(200ms).said(2) == "come back in 45ms, come back in 45ms");
    CHECK(keys.at(245ms).said(2) == "start in 5ms, start in 5ms");
}

TEST_CASE("several keys: where it waits for one, it is away at the others and keeps its number", "[unit]") {
    Two keys("8/s", "5/min");
    keys.ask(1);
    keys.at(1s).ask(2);
    CHECK(keys.a.place_of(2) == Place::away);
    CHECK(keys.b.place_of(2) == Place::in_line);
    CHECK(keys.a.header().in_line == 0);
    CHECK(keys.b.header().in_line == 1);
    CHECK(say(keys.a.ask(3)) == "start now");  // the others go on
    CHECK(say(keys.a.ask(4)) == "come back in 25ms");
    const auto waits = keys.at(2s).ask(2);
    CHECK(waits[0].number == 1);
    CHECK(waits[1].number == 1);
    CHECK(waits[0].wait == waits[1].wait);
    // When its turn has come it stands before those who came later.
    for (TicketId place = 5; place <= 9; ++place)
        keys.at(11'900ms).a.ask(place);
    Duration now = 11'900ms;
    Answer answer = keys.ask(2).front();
    while (answer.kind == AnswerKind::wait) {
        CHECK(answer.ahead == 0);
        answer = keys.at(now += answer.wait).ask(2).front();
    }
    CHECK(now + answer.wait <= 12'125ms);
}

TEST_CASE("several keys: room is kept in the window in which it comes, and not before", "[unit]") {
    Two keys("4/s,burst=4", "1/min");
    keys.ask(1);
    keys.at(10s).ask(2);  // away at the first key until 1 min
    for (TicketId place = 11; place <= 14; ++place)
        CHECK(say(keys.a.ask(place)) == "start now");
    keys.at(58'850ms).ask(2);
    for (TicketId place = 21; place <= 24; ++place)
        CHECK(say(keys.a.ask(place)) == "start now");
    for (TicketId place = 31; place <= 33; ++place)
        CHECK(say(keys.at(59'900ms).a.ask(place)) == "start now");
    CHECK(keys.a.ask(34).kind == AnswerKind::wait);
    CHECK(keys.said(2) == "start in 100ms, start in 100ms");
}

TEST_CASE("several keys: one that refuses keeps the others from everything", "[unit]") {
    const auto refused = [](const std::string& limit, const std::function<void(Desk&)>& prepare) {
        Two keys("8/s", limit);
        keys.ask(1);
        keys.at(10ms);
        prepare(keys.b);
        const auto before = fields_of(keys.a.header());
        const auto answers = keys.ask(2);
        CHECK(answers[0].kind == AnswerKind::wait);
        CHECK(fields_of(keys.a.header())[2] >= before[2]);
        CHECK(keys.a.header().numbers == 0);
        CHECK(keys.a.header().recent_total == 1);
        CHECK(keys.a.records().tickets().empty());
        CHECK(keys.b.records().tickets().empty());
        return say(answers[1]);
    };
    CHECK(refused("5/s", [](Desk& desk) { desk.set_limit(""); }) == "no limit");
    CHECK(refused("5/s", [](Desk& desk) { desk.usual().cost = 6; }) == "too costly");
    CHECK(refused("1 at once", [](Desk& desk) { desk.usual().ancestors = {1}; }) == "nested");
    CHECK(refused("1 at once", [](Desk& desk) { desk.usual().max_waiting = 0; }) == "crowded");
    CHECK(refused("1/s and 2/2s and 3/4s", [](Desk& desk) { desk.set_registered("4/6s and 5/7s"); }) ==
          "conflict");
}

TEST_CASE("several keys: looking takes nothing, and a start or nothing no place", "[unit]") {
    for (const Taking taking : {Taking::nothing, Taking::start}) {
        Two keys("8/s", "1/min");
        keys.a.usual().taking = keys.b.usual().taking = taking;
        CHECK(keys.said(1) == "start now, start now");
        CHECK(keys.a.header().recent_total == (taking == Taking::start ? 1 : 0));
        if (taking == Taking::nothing) keys.b.start_or_nothing();
        CHECK(keys.at(1s).ask(3)[0].kind == AnswerKind::wait);
        CHECK(keys.a.records().tickets().empty());
        CHECK(keys.b.records().tickets().empty());
    }
}

TEST_CASE("several keys: a start asked for again is the same on all of them", "[unit]") {
    Two keys("8/s", "4/s");
    keys.ask(1);
    keys.at(175ms).ask(2);
    const auto again = [&](StartId id) {
        std::vector<Question> questions = {keys.a.question(2), keys.b.question(2)};
        for (auto& question : questions) {
            question.id = id;
            question.fresh = false;
        }
        return ask({{&keys.a.records(), &questions[0]}, {&keys.b.records(), &questions[1]}}, keys.a.now_us(),
                   keys.a.traits());
    };
    for (const auto& answer : again(2))
        CHECK(say(answer) == "start in 75ms");
    CHECK(keys.a.header().recent_total == 2);
    CHECK(keys.b.header().recent_total == 2);
    // One of them has forgotten it and cannot let it start: it is told to wait, and nothing is left over.
    keys.b.records().drop_recent(2);
    const auto answers = again(2);
    CHECK(answers[0].kind == AnswerKind::wait);
    CHECK(answers[1].kind == AnswerKind::wait);
    CHECK(keys.a.records().tickets().empty());
    CHECK(keys.a.header().numbers == 0);
    CHECK(keys.b.records().tickets().size() == 1);
}

TEST_CASE("several keys: the others keep the full rate while one makes a job wait, N = 1, too", "[unit]") {
    const std::pair<const char*, const char*> rows[] = {
        {"8/s", "5/min"}, {"8/s", "1/10s"}, {"1/s", "1/10s"}, {"2/s", "1/10s"}};
    for (const auto& [busy, slow] : rows) {
        SimPlan plan;
        plan.limit = busy;
        plan.more_limits = {slow};
        plan.come_back = 2s;
        const Duration spacing{rate(busy).spacing_us()};
        const auto jobs = static_cast<std::size_t>(60s / spacing);
        add_line(plan, 0, jobs, 10, spacing);
        add_pairs(plan, 5, 1500ms);
        const SimResult result = simulate(plan);
        INFO(busy << " and " << slow);
        CHECK(result.stuck.empty());
        // All but the last pairs are among the starts of the busy key by then.
        CHECK(last_of(plan, result, {0}) <= 60s + 7 * spacing + 2s);
        CHECK(result.most_asked_in(1s) <= 200);
    }
}

TEST_CASE("several keys: in opposite orders nobody starves beside full lines, by rates", "[unit]") {
    for (const char* limit : {"1/s", "2/s", "8/s"}) {
        for (const Duration shift : {Duration{0s}, Duration{60ms}, Duration{rate(limit).spacing_us() / 2}}) {
            SimPlan plan;
            plan.limit = limit;
            plan.more_limits = {limit};
            plan.come_back = 2s;
            const Duration spacing{rate(limit).spacing_us()};
            add_line(plan, 0, 60, 10, spacing);
            add_line(plan, 1, 60, 10, spacing);
            for (std::size_t i = 60; i < 120; ++i)
                plan.jobs[i].arrives += shift;
            add_pairs(plan, 10, 1500ms);
            const SimResult result = simulate(plan);
            INFO(limit << " shifted by " << shift.count());
            CHECK(result.stuck.empty());
            CHECK(last_of(plan, result, {0, 1}) <= 35 * spacing + 1500ms);
            CHECK(last_of(plan, result, {1, 0}) <= 35 * spacing + 1500ms);
            CHECK(result.last() <= 75 * spacing + 2s);
        }
    }
}

TEST_CASE("several keys: in opposite orders nobody starves beside full lines, by places", "[unit]") {
    const std::pair<const char*, const char*> rows[] = {
        {"1 at once", "1 at once"}, {"2 at once", "1 at once"}, {"2 at once", "8/s"}, {"1 at once", "20/s"}};
    for (const auto& [a, b] : rows) {
        SimPlan plan;
        plan.limit = a;
        plan.more_limits = {b};
        plan.come_back = 2s;
        add_line(plan, 0, 50, 10, 100ms, 100ms);
        add_line(plan, 1, 50, 10, 130ms, 100ms);
        for (std::size_t i = 50; i < 100; ++i)
            plan.jobs[i].arrives += 50ms;
        add_pairs(plan, 20, 1500ms, 100ms);
        const SimResult result = simulate(plan);
        INFO(a << " and " << b);
        CHECK(result.stuck.empty());
        CHECK(result.last() <= 15s);
        CHECK(last_of(plan, result, {0, 1}) <= 9s);
        CHECK(last_of(plan, result, {1, 0}) <= 9s);
        CHECK(result.most_asked_in(1s) <= 400);
        for (const std::size_t key : {0U, 1U}) {
            const auto at_once = terms(key == 0 ? a : b).concurrency();
            if (at_once) CHECK(most_at_once(plan, result, key) == *at_once);
        }
    }
}

TEST_CASE("several keys: one of them is free meanwhile, and who comes there is not held up", "[unit]") {
    Two keys("1 at once", "1 at once");
    CHECK(keys.b.ask(1).kind == AnswerKind::start);
    const LeaseId holds = keys.b.last_id();
    const auto waits = keys.ask(2);
    CHECK(waits[0].wake == 0);
    CHECK(waits[1].wake == 1);
    CHECK(keys.a.header().places == 0);
    CHECK(say(keys.a.ask(3)) == "start now");
    keys.b.release(holds);
    CHECK(keys.b.woken() == std::vector<TicketId>{2});
    CHECK(keys.ask(2)[0].wake == 1);  // now it waits at the other, and is away at this one
    CHECK(keys.b.place_of(2) == Place::away);
    keys.a.release(keys.a.last_id() - 1);
    CHECK(keys.a.woken() == std::vector<TicketId>{2});
    CHECK(keys.said(2) == "start now, start now");
    CHECK(keys.a.header().places == 1);
    CHECK(keys.b.header().places == 1);
}
