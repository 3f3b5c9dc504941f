// SPDX-License-Identifier: MIT
// What holds of attempts that take time and cost, under several limits and keys, whatever happens.
#include <algorithm>
#include <map>

#include "support/catch.hpp"
#include "support/histories.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

HistoryKind attempts() {
    HistoryKind kind;
    kind.attempts = true;
    return kind;
}

const std::string& limit_of(const SimPlan& plan, std::size_t key) {
    return key == 0 ? plan.limit : plan.more_limits.at(key - 1);
}

bool is_of(const SimPlan& plan, const SimStart& start, std::size_t key) {
    const auto& keys = plan.jobs[start.job].keys;
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::vector<SimStart> starts_of(const SimPlan& plan, const SimResult& result, std::size_t key) {
    std::vector<SimStart> starts;
    for (const auto& start : result.starts)
        if (is_of(plan, start, key)) starts.push_back(start);
    return starts;
}

// Whether a window of the rate that ends with the last of these holds too much. The clocks of the keys go
// alike.
bool is_over(const SimPlan& plan, const std::vector<SimStart>& starts, std::size_t last, const Rate& rate) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i <= last; ++i)
        if (starts[i].after > starts[last].after - rate.period()) sum += plan.jobs[starts[i].job].cost;
    return sum > rate.allow();
}

// Windows in true time, so without steps of the clock; the numbers stay what they are.
std::string windows(const SimPlan& plan) {
    const SimResult result = simulate(plan);
    for (const std::size_t key : {0U, 1U}) {
        const auto starts = starts_of(plan, result, key);
        const Terms numbers = terms(limit_of(plan, key));
        for (std::size_t last = 0; last < starts.size(); ++last) {
            for (const Rate& rate : numbers.rates())
                if (is_over(plan, starts, last, rate))
                    return "key " + std::to_string(key) + ": " + rate.text() + " and more until " +
                           format_duration_exactly(starts[last].after);
        }
    }
    return {};
}

// At no start more are under way than the key allows, the one that starts included.
std::string places(const SimPlan& plan) {
    const SimResult result = simulate(plan);
    for (const std::size_t key : {0U, 1U}) {
        const auto most = terms(limit_of(plan, key)).concurrency();
        SimResult of_key;
        of_key.starts = starts_of(plan, result, key);
        if (most && of_key.most_at_once() > *most)
            return "key " + std::to_string(key) + ": " + std::to_string(of_key.most_at_once()) + " at once";
    }
    return {};
}

// Slots, windows, attempts, pauses, outages and the leases of the dead added up, everybody has started.
Duration longest_need(const SimPlan& plan) {
    Duration need = 70s, period{}, spacing{};
    const auto consider = [&](const std::string& limit) {
        const Terms numbers = terms(limit);
        for (const Rate& rate : numbers.rates()) {
            period = std::max(period, rate.period());
            spacing = std::max(spacing, Duration{rate.period().count() / rate.allow() + 1});
        }
    };
    consider(plan.limit);
    consider(plan.more_limits.front());
    for (const auto& event : plan.events) {
        if (event.what == SimTrouble::limit) consider(event.limit);
        if (event.what == SimTrouble::pause || event.what == SimTrouble::outage) need += event.length;
        need += 10s;
    }
    for (const auto& job : plan.jobs) {
        need += job.holds + 3 * spacing + period / 4 + 500ms;
        if (job.dies) need += plan.lock_for + 2s;
    }
    return need + 2 * period;
}

std::string everybody_starts(SimPlan plan) {
    plan.ends = longest_need(plan);
    const SimResult result = simulate(plan);
    if (result.stuck.empty()) return {};
    return "job " + std::to_string(result.stuck.front()) + " and " + std::to_string(result.stuck.size() - 1) +
           " more still wait after " + format_duration_exactly(plan.ends);
}

// Who is first, with a place, room in all windows and a slot since the last start, starts.
std::string idle_capacity(SimPlan plan) {
    for (auto& job : plan.jobs)
        job.keys.resize(1);
    std::string broken;
    std::map<Desk*, std::vector<std::pair<std::int64_t, std::int64_t>>> starts;  // time and cost
    simulate(plan, [&](const SimMoment& moment) {
        const Answer& answer = moment.answer;
        const std::int64_t now = moment.key_now_us;
        const Header before = moment.before.header().value_or(Header{});
        auto& list = starts[&moment.desk];
        bool room = true;
        for (const Rate& rate : answer.terms.rates()) {
            std::int64_t sum = moment.question.cost;
            for (const auto& [at, cost] : list) {
                if (at > now - rate.period().count()) sum += cost;
                if (at + cost * (rate.spacing_us() + 1) > now) room = false;
            }
            room = room && sum <= rate.allow();
        }
        const auto most = answer.terms.concurrency();
        const bool free = !most || before.places < *most;
        const bool paced = before.paused_until_us > 0;  // those who waited out a pause follow at a pace
        if (answer.ahead == 0 && before.away == 0 && moment.desk.header().away == 0 && room && free &&
            !paced && answer.kind == AnswerKind::wait)
            broken = "job " + std::to_string(moment.job) + " waits for nothing at " +
                     std::to_string(now - Desk::k_begin_us) + " us";
        if (answer.kind == AnswerKind::start)
            list.emplace_back(now + answer.wait.count(), moment.question.cost);
    });
    return broken;
}

std::string told_times(const SimPlan& plan) {
    std::string broken;
    const SimResult result = simulate(plan, [&](const SimMoment& moment) {
        const Answer& answer = moment.answer;
        if (answer.kind == AnswerKind::start && answer.wait > 100ms) broken = "a grant of " + say(answer);
        if (answer.kind == AnswerKind::start) return;
        if (answer.kind != AnswerKind::wait) broken = "refused: " + say(answer);
        if (answer.wait <= 0s) broken = "told to come back in the past";
        if (answer.wait > 60s && !moment.question.caller)
            broken = "told to come back too late: " + say(answer);
        if (answer.earliest < 0s) broken = "could start in the past";
    });
    // However they are held up, nobody asks without an end.
    std::size_t allowed = 0;
    for (const auto& job : plan.jobs)
        allowed += 200 + static_cast<std::size_t>(job.holds / 2ms);
    for (const auto& event : plan.events)
        allowed +=
            plan.jobs.size() * (10 + static_cast<std::size_t>(std::max(event.length, Duration{0}) / 100ms));
    if (result.asked.size() > allowed * (plan.jobs.size() + 10) / 10)
        return std::to_string(result.asked.size()) + " questions";
    return broken;
}

// Nothing is left of all that in the end: no lease, no ticket, and then no key.
std::string left_over(const SimPlan& plan) {
    SimResult result = simulate(plan);
    for (Desk& desk : result.desks) {
        if (!desk.records().header()) continue;
        const Header header = desk.header();
        std::int64_t held = 0;
        for (const auto& [id, lease] : desk.records().leases())
            if (lease.held && lease.place) ++held;
        if (held != header.places) return "places are counted wrongly";
        if (header.line_cost < 0 || header.in_line < 0 || header.leases < 0 || header.open != 0)
            return "counts below nothing";
        desk.after(3h);  // longer than any period, pause, ticket, lease or step here
        desk.peek();
        if (desk.records().header()) return "the key is still there";
        if (!desk.records().leases().empty() || !desk.records().tickets().empty()) return "something is left";
    }
    return {};
}

}  // namespace

TEST_CASE("property: no window of any limit of any key holds more than it allows, costs included", "[unit]") {
    HistoryKind kind = attempts();
    kind.steps = kind.limits = false;
    CHECK(counterexample(kind, windows) == "");
}

TEST_CASE("property: never are more under way than a key has places", "[unit]") {
    HistoryKind kind = attempts();
    kind.steps = kind.limits = false;  // a clock that is set forward takes leases away
    CHECK(counterexample(kind, places) == "");
}

TEST_CASE("property: no job with attempts, costs and several keys waits for ever", "[unit]") {
    CHECK(counterexample(attempts(), everybody_starts) == "");
}

TEST_CASE("property: no place and no slot is idle while the first in line asks", "[unit]") {
    HistoryKind kind = attempts();
    kind.limits = kind.steps = false;
    CHECK(counterexample(kind, idle_capacity) == "");
}

TEST_CASE("property: whoever waits for a place is told a time that makes sense, and asks little", "[unit]") {
    CHECK(counterexample(attempts(), told_times) == "");
}

TEST_CASE("property: of attempts and those who waited for them nothing is left", "[unit]") {
    CHECK(counterexample(attempts(), left_over) == "");
}
