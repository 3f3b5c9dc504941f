// SPDX-License-Identifier: MIT
// What holds of the starts, whatever happens. contract.md sections 2 and 3.
#include <algorithm>
#include <map>
#include <set>

#include "support/catch.hpp"
#include "support/histories.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

std::string at(std::int64_t key_us) {
    return std::to_string(key_us - Desk::k_begin_us) + " us";
}

// The log keeps at least so many starts under any limit.
constexpr std::int64_t k_always_kept = 8;

std::string window_of(const std::vector<SimStart>& starts, std::size_t last) {
    const Rate& limit = starts[last].terms.rates().front();
    const auto n = static_cast<std::size_t>(limit.allow());
    if (last < n) return {};
    const SimStart& first = starts[last - n];
    if (first.birth_us != starts[last].birth_us) return {};
    if (limit.allow() > k_always_kept) {  // after a change: of windows that begin after it
        for (std::size_t i = last - n; i < last; ++i)
            if (starts[i].terms.rates().front() != limit) return {};
    }
    if (starts[last].at_us - first.at_us >= limit.period().count()) return {};
    return limit.text() + " and one more from " + at(first.at_us) + " to " + at(starts[last].at_us);
}

std::string windows(const SimPlan& plan) {
    const SimResult result = simulate(plan);
    for (std::size_t i = 0; i < result.starts.size(); ++i) {
        if (i > 0 && result.starts[i].birth_us == result.starts[i - 1].birth_us &&
            result.starts[i].at_us < result.starts[i - 1].at_us)
            return "recorded out of order at " + at(result.starts[i].at_us);
        if (auto over = window_of(result.starts, i); !over.empty()) return over;
    }
    return {};
}

// Nothing is granted in a pause, and a grant reaches at most 100 ms into one that begins after it.
std::string starts_in_pauses(const SimPlan& plan) {
    std::string broken;
    std::set<StartId> noted;
    simulate(plan, [&](const SimMoment& moment) {
        if (moment.answer.kind != AnswerKind::start) return;
        if (!noted.insert(moment.question.id).second) return;
        const Header before = moment.before.header().value_or(Header{});
        if (before.paused_until_us > moment.key_now_us && before.birth_us == moment.answer.birth_us)
            broken = "job " + std::to_string(moment.job) + " started in a pause at " + at(moment.key_now_us);
        if (moment.answer.wait > 100ms || moment.answer.wait < 0s)
            broken = "a grant of " + say(moment.answer);
    });
    return broken;
}

std::string pause_ends(const SimPlan& plan) {
    std::string broken;
    std::int64_t birth = 0, end = 0;
    simulate(plan, [&](const SimMoment& moment) {
        const Header header = moment.desk.header();
        if (header.birth_us == birth && header.paused_until_us < end) broken = "a pause ends earlier";
        birth = header.birth_us;
        end = header.paused_until_us;
    });
    return broken;
}

// A job starts once, whatever is repeated or lost.
std::string starts_per_job(const SimPlan& plan) {
    std::string broken;
    std::map<StartId, std::int64_t> when;
    std::int64_t birth = 0;
    const SimResult result = simulate(plan, [&](const SimMoment& moment) {
        if (moment.answer.birth_us != birth) when.clear();  // all of them are a longest period ago
        birth = moment.answer.birth_us;
        const std::int64_t more = moment.desk.header().recent_total -
                                  (moment.before.header() && moment.before.header()->birth_us == birth
                                       ? moment.before.header()->recent_total
                                       : 0);
        const auto before = when.find(moment.question.id);
        const bool started = moment.answer.kind == AnswerKind::start;
        if (before != when.end() && (more != 0 || !started)) broken = "a repeated question was judged anew";
        if (before == when.end() && more != (started ? 1 : 0)) broken = "starts and records differ";
        const std::int64_t start_us = moment.key_now_us + moment.answer.wait.count();
        if (before == when.end() && started) when[moment.question.id] = start_us;
        if (before != when.end() && start_us != std::max(before->second, moment.key_now_us))
            broken = "a repeated start has another time";
    });
    std::set<std::size_t> jobs;
    for (const auto& start : result.starts)
        if (!jobs.insert(start.job).second) broken = "job " + std::to_string(start.job) + " started twice";
    return broken;
}

// Asked at once again: the same answer, and nothing has changed.
std::string repeated(const SimPlan& plan) {
    std::string broken;
    simulate(plan, [&](const SimMoment& moment) {
        MemoryRecords records = moment.desk.records();
        Question again = moment.question;
        again.fresh = false;
        const Answer answer = ask(records, moment.desk.now_us(), again, {plan.come_back});
        if (answer.kind != moment.answer.kind || answer.wait != moment.answer.wait)
            broken = say(moment.answer) + ", then " + say(answer);
        const Header before = moment.desk.header();
        const Header after = records.header().value_or(Header{});
        // A question may find up to 16 more who are late; nothing else may move.
        if (after.recent_total != before.recent_total || after.numbers != before.numbers ||
            after.rows[0].slot_us != before.rows[0].slot_us ||
            after.rows[0].log_total != before.rows[0].log_total ||
            after.paused_until_us != before.paused_until_us ||
            records.tickets().size() > moment.desk.records().tickets().size())
            broken = "asking again changed something";
    });
    return broken;
}

}  // namespace

TEST_CASE("property: no window of a period holds more than N starts, grants included", "[unit]") {
    CHECK(counterexample({}, windows) == "");
}

TEST_CASE("property: nothing is granted in a pause, nothing starts over 100 ms into one", "[unit]") {
    CHECK(counterexample({}, starts_in_pauses) == "");
}

TEST_CASE("property: a pause never ends earlier because of another", "[unit]") {
    HistoryKind kind;
    kind.resumes = false;
    CHECK(counterexample(kind, pause_ends) == "");
}

TEST_CASE("property: a lost reply never costs a second start", "[unit]") {
    CHECK(counterexample({}, starts_per_job) == "");
}

TEST_CASE("property: a question asked again has the same answer and changes nothing", "[unit]") {
    CHECK(counterexample({}, repeated) == "");
}
