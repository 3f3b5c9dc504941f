// SPDX-License-Identifier: MIT
// What holds of the waiting list, whatever happens. contract.md section 2.
#include <algorithm>
#include <map>

#include "support/catch.hpp"
#include "support/histories.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

std::string at(std::int64_t key_us) {
    return std::to_string(key_us - Desk::k_begin_us) + " us";
}

// Who starts passes nobody in line whose turn is still to come, if that one has asked since the last one
// ahead of it left.
std::string passing(const SimPlan& plan) {
    std::string broken;
    std::map<std::int64_t, std::int64_t> asked;  // number of a ticket -> a count of moments
    std::map<std::int64_t, std::int64_t> left;   // number -> the moment when it left the line
    std::map<std::int64_t, bool> in_line;
    std::int64_t moments = 0;
    simulate(plan, [&](const SimMoment& moment) {
        ++moments;
        std::map<std::int64_t, bool> now_in_line;
        for (const auto& [id, ticket] : moment.desk.records().tickets())
            if (ticket.place == Place::in_line) now_in_line[ticket.number] = true;
        for (const auto& [number, there] : in_line)
            if (now_in_line.count(number) == 0) left[number] = moments;
        const std::int64_t own = moment.answer.kind == AnswerKind::start && moment.answer.number == 0
                                     ? moment.desk.header().numbers + 1
                                     : moment.answer.number;
        if (moment.answer.kind == AnswerKind::start) {
            for (const auto& [id, ticket] : moment.desk.records().tickets()) {
                if (ticket.place != Place::in_line || ticket.number >= own) continue;
                if (ticket.told_us <= moment.key_now_us) continue;  // its turn has come
                const bool behind_somebody =
                    std::any_of(left.begin(), left.end(), [&, n = ticket.number](const auto& gone) {
                        return gone.first < n && gone.second > asked[n];
                    });
                if (!behind_somebody)
                    broken = "number " + std::to_string(own) + " passed " + std::to_string(ticket.number) +
                             " at " + at(moment.key_now_us);
            }
        } else {
            asked[moment.answer.number] = moments;
        }
        in_line = now_in_line;
    });
    return broken;
}

// With prompt runners the order of starts is the order in which they came, but for those who are due within
// one grant: the first of them to ask goes first.
std::string order(const SimPlan& plan) {
    const SimResult result = simulate(plan);
    for (std::size_t i = 1; i < result.starts.size(); ++i) {
        const SimStart &before = result.starts[i - 1], &start = result.starts[i];
        if (plan.jobs[before.job].arrives > plan.jobs[start.job].arrives &&
            before.at_us + 100'000 < start.at_us)
            return "job " + std::to_string(start.job) + " came first and started later";
    }
    return {};
}

std::string exact_span(const SimPlan& plan) {
    const SimResult result = simulate(plan);
    if (result.starts.size() != plan.jobs.size()) return "not all have started";
    const Rate limit = rate(plan.limit);
    for (std::size_t k = 0; k < result.starts.size(); ++k) {
        const std::int64_t over = static_cast<std::int64_t>(k) * limit.period().count();
        const Duration exact{(over + limit.allow() - 1) / limit.allow()};
        if (result.starts[k].after != exact)
            return "start " + std::to_string(k) + " after " + std::to_string(result.starts[k].after.count()) +
                   " us, not " + std::to_string(exact.count());
    }
    if (result.most_turns() > 2) return std::to_string(result.most_turns()) + " questions";
    return {};
}

// Slots, windows, pauses and outages added up, everybody has started.
Duration longest_need(const SimPlan& plan) {
    Duration spacing{}, period{}, trouble{};
    const auto consider = [&](const Rate& limit) {
        spacing = std::max(spacing, Duration{limit.spacing_us() + 1});
        period = std::max(period, limit.period());
    };
    consider(rate(plan.limit));
    for (const auto& event : plan.events) {
        if (event.what == SimTrouble::limit) consider(rate(event.limit));
        if (event.what == SimTrouble::pause || event.what == SimTrouble::outage) trouble += event.length;
        trouble = std::max(trouble, event.at);
    }
    const auto jobs = static_cast<std::int64_t>(plan.jobs.size());
    return 10s + trouble + period + jobs * spacing + 60s;
}

std::string everybody_starts(SimPlan plan) {
    plan.ends = longest_need(plan);
    const SimResult result = simulate(plan);
    if (result.stuck.empty()) return {};
    return "job " + std::to_string(result.stuck.front()) + " and " + std::to_string(result.stuck.size() - 1) +
           " more still wait after " + format_duration_exactly(plan.ends);
}

// Who is first and finds a free window and T since the last start gets it.
std::string idle_capacity(const SimPlan& plan) {
    std::string broken;
    std::vector<std::int64_t> starts;
    std::int64_t birth = 0;
    simulate(plan, [&](const SimMoment& moment) {
        if (moment.answer.birth_us != birth) starts.clear();
        birth = moment.answer.birth_us;
        const Rate limit = moment.answer.terms.rates().front();
        const std::int64_t now = moment.key_now_us;
        const auto n = static_cast<std::size_t>(limit.allow());
        const bool room = starts.size() < n || starts[starts.size() - n] + limit.period().count() <= now;
        const bool spaced = starts.empty() || starts.back() + limit.spacing_us() + 1 <= now;
        const Header header = moment.desk.header();
        const bool first = moment.answer.ahead == 0 && header.away == 0;
        if (first && room && spaced && now >= header.paused_until_us &&
            moment.answer.kind != AnswerKind::start)
            broken = "job " + std::to_string(moment.job) + " waits for nothing at " + at(now);
        const std::int64_t start_us = now + moment.answer.wait.count();
        if (moment.answer.kind == AnswerKind::start &&
            (starts.empty() || start_us > starts.back() || moment.question.fresh))
            starts.push_back(start_us);
    });
    return broken;
}

std::string told_times(const SimPlan& plan) {
    std::string broken;
    simulate(plan, [&](const SimMoment& moment) {
        const Answer& answer = moment.answer;
        if (answer.kind == AnswerKind::start) return;
        if (answer.wait <= 0s) broken = "told to come back in the past";
        if (answer.wait > 60s && !moment.question.caller)
            broken = "told to come back too late: " + say(answer);
        if (answer.earliest < 0s) broken = "could start in the past";
    });
    return broken;
}

std::string left_alone(const SimPlan& plan) {
    MemoryRecords records;
    std::int64_t now = 0;
    simulate(plan, [&](const SimMoment& moment) {
        records = moment.desk.records();
        now = moment.desk.now_us();
    });
    now += std::chrono::microseconds{3h}.count();  // longer than any period, pause, ticket or step here
    MemoryRecords fresh;
    for (int i = 1; i <= 10; ++i) {
        Question question;
        question.id = question.place = 1'000'000U + static_cast<unsigned>(i);
        question.terms = terms(plan.limit);
        const Answer answer = ask(records, now, question, {plan.come_back});
        const Answer expected = ask(fresh, now, question, {plan.come_back});
        if (!same_answer(answer, expected)) return say(answer) + ", a new key " + say(expected);
    }
    if (fields_of(*records.header()) != fields_of(*fresh.header())) return "the states differ";
    return {};
}

}  // namespace

TEST_CASE("property: first come, first served among those who have asked", "[unit]") {
    HistoryKind kind;
    kind.limits = kind.resumes = false;  // they change what was told
    CHECK(counterexample(kind, passing) == "");
}

TEST_CASE("property: prompt runners start in the order they came", "[unit]") {
    HistoryKind kind;
    kind.trouble_with_jobs = kind.outages = kind.lost_replies = false;
    kind.limits = kind.resumes = kind.steps = false;
    CHECK(counterexample(kind, order) == "");
}

TEST_CASE("property: k at once and up to 90 ms late start after exactly (k-1) * T, asking twice", "[unit]") {
    HistoryKind kind;
    kind.mixed = kind.pauses = kind.resumes = kind.steps = kind.limits = kind.outages = false;
    CHECK(counterexample(kind, exact_span) == "");
}

TEST_CASE("property: nobody waits for ever, whatever died, stepped or changed", "[unit]") {
    CHECK(counterexample({}, everybody_starts) == "");
}

TEST_CASE("property: no capacity is idle while a waiter that asks is due", "[unit]") {
    CHECK(counterexample({}, idle_capacity) == "");
}

TEST_CASE("property: nobody is told to come back in the past or later than 60 s", "[unit]") {
    CHECK(counterexample({}, told_times) == "");
}

TEST_CASE("property: a key left alone is the same as a new one", "[unit]") {
    CHECK(counterexample({}, left_alone) == "");
}
