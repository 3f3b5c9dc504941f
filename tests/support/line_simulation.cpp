// SPDX-License-Identifier: MIT
#include "support/line_simulation.hpp"

#include <algorithm>
#include <queue>
#include <random>
#include <tuple>

namespace jobthrottle::testing {

namespace {

enum class Turn { trouble, ask, give_up };

struct Planned {
    std::int64_t at_us = 0;  // true time
    std::uint64_t order = 0;
    Turn turn = Turn::ask;
    std::size_t index = 0;
    friend bool operator<(const Planned& a, const Planned& b) {  // the earliest is the greatest
        return std::tie(a.at_us, a.order) > std::tie(b.at_us, b.order);
    }
};

struct Runner {
    StartId id = 0;  // of the question under way, 0: none
    bool done = false;
    bool was_check = false;  // the last answer was a come-back check
    int questions = 0;
    int turns = 0;
};

class Simulation {
public:
    Simulation(const SimPlan& plan, const SimWatcher& watcher)
        : m_plan(plan), m_watcher(watcher), m_desk(plan.limit, plan.come_back), m_random(plan.seed) {}

    SimResult run() {
        m_runners.resize(m_plan.jobs.size());
        for (std::size_t i = 0; i < m_plan.events.size(); ++i)
            add(m_plan.events[i].at.count(), Turn::trouble, i);
        for (std::size_t i = 0; i < m_plan.jobs.size(); ++i) {
            add(m_plan.jobs[i].arrives.count(), Turn::ask, i);
            if (m_plan.jobs[i].gives_up) add(m_plan.jobs[i].gives_up->count(), Turn::give_up, i);
        }
        while (!m_queue.empty() && m_queue.top().at_us <= m_plan.ends.count()) {
            const Planned next = m_queue.top();
            m_queue.pop();
            m_true_us = next.at_us;
            m_desk.at(Duration{m_true_us + m_step_us});
            take(next);
        }
        for (std::size_t i = 0; i < m_runners.size(); ++i) {
            if (!m_runners[i].done && !dead(i)) m_result.stuck.push_back(i);
        }
        return std::move(m_result);
    }

private:
    void add(std::int64_t at_us, Turn turn, std::size_t index) {
        m_queue.push({at_us, ++m_order, turn, index});
    }
    std::int64_t below(std::int64_t n) {
        return n <= 0 ? 0 : static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(n));
    }
    bool dead(std::size_t job) const {
        const auto& dies = m_plan.jobs[job].dies;
        return dies && dies->count() <= m_true_us;
    }

    void take(const Planned& next) {
        if (next.turn == Turn::trouble) return trouble(m_plan.events[next.index]);
        if (m_runners[next.index].done || dead(next.index)) return;
        if (m_true_us < m_outage_until_us) {  // the store is away: tried again when it is back
            return add(m_outage_until_us + below(1'000'000), next.turn, next.index);
        }
        if (next.turn == Turn::ask) return ask(next.index);
        m_desk.cancel(next.index + 1);
        m_runners[next.index].done = true;
    }

    void trouble(const SimEvent& event) {
        switch (event.what) {
            case SimTrouble::pause:
                m_desk.pause(event.length);
                break;
            case SimTrouble::resume:
                m_desk.resume();
                break;
            case SimTrouble::step:
                m_step_us += event.length.count();
                break;
            case SimTrouble::limit:
                m_desk.set_limit(event.limit);
                break;
            case SimTrouble::outage:
                m_outage_until_us = m_true_us + event.length.count();
                break;
        }
    }

    void ask(std::size_t index) {
        const SimJob& job = m_plan.jobs[index];
        Runner& runner = m_runners[index];
        Question question = m_desk.question(index + 1);
        question.fresh = runner.id == 0;
        if (!question.fresh) question.id = runner.id;
        question.caller = job.caller;
        if (job.caller) question.keep = k_caller_keep;
        const MemoryRecords before = m_watcher ? m_desk.records() : MemoryRecords{};
        const Answer answer = m_desk.ask(question);
        const std::int64_t key_now = m_desk.now_us() + m_desk.header().offset_us;
        if (m_watcher) m_watcher({index, m_desk, before, question, answer, key_now});

        if (!runner.was_check && question.fresh) ++runner.turns;
        const bool counted = answer.kind == AnswerKind::start && !noted(question.id);
        if (counted) {
            m_result.starts.push_back({index, key_now, key_now + answer.wait.count(),
                                       Duration{m_true_us} + answer.wait, answer.number, runner.turns,
                                       answer.terms, answer.birth_us});
            m_noted.push_back(question.id);
        }
        if (job.loses > 0 && ++runner.questions % job.loses == 0) {
            runner.id = question.id;
            return add(m_true_us + 1 + below(200'000), Turn::ask, index);
        }
        runner.id = 0;
        if (answer.kind == AnswerKind::start) {
            runner.done = true;
            return;
        }
        const auto& rates = answer.terms.rates();
        const Duration grant = rates.empty() ? Duration{100'000} : rates.front().grant();
        runner.was_check = answer.earliest > answer.wait + grant;
        add(m_true_us + answer.wait.count() + below(job.late.count() + 1), Turn::ask, index);
    }

    bool noted(StartId id) const { return std::find(m_noted.begin(), m_noted.end(), id) != m_noted.end(); }

    const SimPlan& m_plan;
    const SimWatcher& m_watcher;
    Desk m_desk;
    std::mt19937_64 m_random;
    std::priority_queue<Planned> m_queue;
    std::uint64_t m_order = 0;
    std::vector<Runner> m_runners;
    std::vector<StartId> m_noted;
    std::int64_t m_true_us = 0, m_step_us = 0, m_outage_until_us = 0;
    SimResult m_result;
};

}  // namespace

Duration SimResult::last() const {
    Duration latest{};
    for (const auto& start : starts)
        latest = std::max(latest, start.after);
    return latest;
}

int SimResult::most_turns() const {
    int most = 0;
    for (const auto& start : starts)
        most = std::max(most, start.turns);
    return most;
}

SimResult simulate(const SimPlan& plan, const SimWatcher& watcher) {
    return Simulation(plan, watcher).run();
}

}  // namespace jobthrottle::testing
