// SPDX-License-Identifier: MIT
#include "support/line_simulation.hpp"

#include <algorithm>
#include <queue>
#include <random>
#include <set>
#include <tuple>

namespace jobthrottle::testing {

namespace {

enum class Turn { trouble, ask, give_up, renew, settle, finish };

struct Planned {
    std::int64_t at_us = 0;  // true time
    std::uint64_t order = 0;
    Turn turn = Turn::ask;
    std::size_t index = 0;
    int sleep = 0;                                               // of an ask: the sleep that it ends
    friend bool operator<(const Planned& a, const Planned& b) {  // the earliest is the greatest
        return std::tie(a.at_us, a.order) > std::tie(b.at_us, b.order);
    }
};

struct Runner {
    StartId id = 0;  // of the question under way, 0: none; then of its start
    bool done = false;
    bool running = false;
    bool was_check = false;  // the last answer was a come-back check
    int questions = 0;
    int turns = 0;
    int sleep = 0;  // the sleeps are counted, so that one that was cut short does not end again
    std::int64_t ends_us = 0;
    std::size_t start = 0;  // in the result
};

class Simulation {
public:
    Simulation(const SimPlan& plan, const SimWatcher& watcher)
        : m_plan(plan), m_watcher(watcher), m_random(plan.seed), m_runners(plan.jobs.size()) {
        open(plan.limit);
        for (const auto& limit : plan.more_limits)
            open(limit);
    }

    SimResult run() {
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
            for (auto& desk : m_desks)
                desk.at(Duration{m_true_us + m_step_us});
            take(next);
            wake_up();
        }
        for (std::size_t i = 0; i < m_runners.size(); ++i) {
            if (!m_runners[i].done && !dead(i)) m_result.stuck.push_back(i);
        }
        for (auto& start : m_result.starts) {
            const auto& dies = m_plan.jobs[start.job].dies;
            if (dies) start.ends = std::min(start.ends, std::max(*dies, start.after));
        }
        for (auto& desk : m_desks) {
            desk.records().know_life({});
            desk.records().know_dead({});
        }
        m_result.desks = std::move(m_desks);
        return std::move(m_result);
    }

private:
    void open(const std::string& limit) {
        Desk& desk = m_desks.emplace_back(limit, m_plan.come_back);
        desk.usual().lock_for = m_plan.lock_for;
        desk.usual().count_successes = m_plan.count_successes;
        if (!m_plan.sees_deaths) return;
        desk.records().know_life([this](const Lease& lease) {
            const auto job = static_cast<std::size_t>(std::stoul(lease.who));
            return m_runners[job].running && !dead(job) ? HolderLife::alive : HolderLife::dead;
        });
        desk.records().know_dead([this](TicketId ticket) { return dead(ticket - 1); });
    }

    void add(std::int64_t at_us, Turn turn, std::size_t index) {
        m_queue.push({at_us, ++m_order, turn, index, turn == Turn::ask ? m_runners[index].sleep : 0});
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
        Runner& runner = m_runners[next.index];
        if (dead(next.index)) return;
        const bool waits = next.turn == Turn::ask || next.turn == Turn::give_up;
        if (waits ? runner.done : !runner.running) return;
        if (next.turn == Turn::ask && next.sleep != runner.sleep) return;
        if (m_true_us < m_outage_until_us) {  // the store is away: tried again when it is back
            return add(m_outage_until_us + below(1'000'000), next.turn, next.index);
        }
        switch (next.turn) {
            case Turn::ask:
                return ask(next.index);
            case Turn::give_up:
                for (const auto key : m_plan.jobs[next.index].keys)
                    m_desks[key].cancel(next.index + 1);
                runner.done = true;
                return;
            default:
                return attend(next);
        }
    }

    // What an attempt under way does.
    void attend(const Planned& next) {
        const SimJob& job = m_plan.jobs[next.index];
        Runner& runner = m_runners[next.index];
        for (const auto key : job.keys) {
            Desk& desk = m_desks[key];
            if (next.turn == Turn::renew) desk.renew(runner.id);
            if (next.turn == Turn::settle) desk.settle(runner.id, *job.settles);
            if (next.turn == Turn::finish) job.fails ? desk.fail(runner.id) : desk.release(runner.id);
        }
        if (next.turn == Turn::finish) runner.running = false;
        if (next.turn == Turn::renew) add(m_true_us + m_plan.lock_for.count() / 3, Turn::renew, next.index);
    }

    void trouble(const SimEvent& event) {
        switch (event.what) {
            case SimTrouble::pause:
                m_desks.front().pause(event.length);
                break;
            case SimTrouble::resume:
                m_desks.front().resume();
                break;
            case SimTrouble::step:
                m_step_us += event.length.count();
                break;
            case SimTrouble::limit:
                m_desks.front().set_limit(event.limit);
                break;
            case SimTrouble::outage:
                m_outage_until_us = m_true_us + event.length.count();
                break;
        }
    }

    Question question(std::size_t index, std::size_t key, StartId id) {
        const SimJob& job = m_plan.jobs[index];
        Question question = m_desks[key].question(index + 1);
        question.id = id;
        question.fresh = m_runners[index].id == 0;
        question.caller = job.caller;
        question.cost = job.cost;
        question.settles = job.settles.has_value();
        question.who = std::to_string(index);
        if (job.caller) question.keep = k_caller_keep;
        return question;
    }

    void ask(std::size_t index) {
        const SimJob& job = m_plan.jobs[index];
        Runner& runner = m_runners[index];
        const StartId id = runner.id == 0 ? ++m_ids : runner.id;
        std::vector<Question> questions;
        std::vector<KeyQuestion> asked;
        questions.reserve(job.keys.size());
        for (const auto key : job.keys)
            asked.push_back({&m_desks[key].records(), &questions.emplace_back(question(index, key, id))});
        Desk& desk = m_desks[job.keys.front()];
        const MemoryRecords before = m_watcher ? desk.records() : MemoryRecords{};
        const auto answers = jobthrottle::ask(asked, desk.now_us(), desk.traits());
        const Answer& answer = answers.front();
        const std::int64_t key_now = desk.now_us() + desk.header().offset_us;
        if (m_watcher) m_watcher({index, desk, before, questions.front(), answer, key_now});
        m_result.asked.push_back(Duration{m_true_us});

        if (!runner.was_check && questions.front().fresh) ++runner.turns;
        const bool started = answer.kind == AnswerKind::start;
        const bool noted = started && !m_noted.insert(id).second;
        if (started && !noted) {
            runner.ends_us = m_true_us + (answer.wait + job.holds).count();
            runner.start = m_result.starts.size();
            m_result.starts.push_back({index, key_now, key_now + answer.wait.count(),
                                       Duration{m_true_us} + answer.wait, answer.number, runner.turns,
                                       answer.terms, answer.birth_us, Duration{runner.ends_us}});
        }
        if (job.loses > 0 && ++runner.questions % job.loses == 0) {
            runner.id = id;
            ++runner.sleep;
            return add(m_true_us + 1 + below(200'000), Turn::ask, index);
        }
        if (started) {
            runner.id = id;
            return begin(index);
        }
        runner.id = 0;
        const auto& rates = answer.terms.rates();
        const Duration grant = rates.empty() ? Duration{100'000} : rates.front().grant();
        runner.was_check = answer.earliest > answer.wait + grant;
        ++runner.sleep;
        add(m_true_us + answer.wait.count() + below(job.late.count() + 1), Turn::ask, index);
    }

    void begin(std::size_t index) {
        const SimJob& job = m_plan.jobs[index];
        Runner& runner = m_runners[index];
        runner.done = runner.running = true;
        const std::int64_t ends = std::max(runner.ends_us, m_true_us);
        m_result.starts[runner.start].ends = Duration{ends};
        if (job.settles) add(m_true_us + (ends - m_true_us) / 2, Turn::settle, index);
        add(ends, Turn::finish, index);
        add(m_true_us + m_plan.lock_for.count() / 3, Turn::renew, index);
    }

    void wake_up() {
        for (auto& desk : m_desks) {
            for (const TicketId ticket : desk.woken()) {
                const std::size_t job = ticket - 1;
                if (m_runners[job].done || dead(job)) continue;
                ++m_runners[job].sleep;
                add(m_true_us + m_plan.wake_takes.count() + below(m_plan.jobs[job].late.count() + 1),
                    Turn::ask, job);
            }
        }
    }

    const SimPlan& m_plan;
    const SimWatcher& m_watcher;
    std::vector<Desk> m_desks;
    std::mt19937_64 m_random;
    std::priority_queue<Planned> m_queue;
    std::uint64_t m_order = 0;
    StartId m_ids = 0;
    std::vector<Runner> m_runners;
    std::set<StartId> m_noted;
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

std::int64_t SimResult::most_at_once() const {
    std::vector<std::pair<Duration, int>> changes;  // those that end are counted before those that begin
    for (const auto& start : starts) {
        changes.emplace_back(start.after, 1);
        changes.emplace_back(start.ends, -1);
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t now = 0, most = 0;
    for (const auto& [when, by] : changes)
        most = std::max(most, now += by);
    return most;
}

std::int64_t SimResult::most_asked_in(Duration span) const {
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < asked.size(); ++last) {
        while (asked[first] + span <= asked[last])
            ++first;
        most = std::max(most, last - first + 1);
    }
    return static_cast<std::int64_t>(most);
}

SimResult simulate(const SimPlan& plan, const SimWatcher& watcher) {
    return Simulation(plan, watcher).run();
}

}  // namespace jobthrottle::testing
