// SPDX-License-Identifier: MIT
// The slow reading of when a job may start.
#include <algorithm>

#include "support/slow_key.hpp"

namespace jobthrottle::testing {

namespace {

constexpr std::int64_t k_never = std::int64_t{1} << 52;

}  // namespace

struct SlowKey::View {
    std::int64_t number = 0, others = 0, rank = 0, cost = 1, cost_ahead = 0;
    std::vector<std::int64_t> costs;  // of the first 16 ahead
    const Waiter* away = nullptr;     // with the lowest number of all, if that is lower than its own
    std::vector<Rate> rates;          // that pace it
    std::vector<Exact> bases;
    std::int64_t count_due = 0, cost_due = 0;  // those ahead who could start now
    std::int64_t due = 0, at = 0, not_before = 0, until = 0;
    bool starts = false, waits_for_lease = false;

    // When the start is due that this much comes before.
    std::int64_t due_after(std::int64_t cost_before) const {
        std::int64_t latest = 0;
        for (std::size_t i = 0; i < rates.size(); ++i)
            latest = std::max(latest, rounded_up(steps(rates[i], bases[i], cost_before)));
        return latest;
    }
};

// The count-th slot after, or before, this moment.
SlowKey::Exact SlowKey::steps(const Rate& rate, const Exact& from, std::int64_t count) {
    const std::int64_t n = rate.allow();
    const std::int64_t parts = from.part + count * rate.period().count();
    const std::int64_t whole = parts >= 0 ? parts / n : -((-parts + n - 1) / n);
    return {from.whole + whole, parts - whole * n};
}

std::int64_t SlowKey::rounded_up(const Exact& e) {
    return std::min(e.whole + (e.part > 0 ? 1 : 0), k_never);
}

SlowKey::View SlowKey::stand(const Question& question) const {
    View v;
    v.number = m_count + 1;
    v.cost = question.cost;
    for (const auto& w : m_waiters) {
        if (w.id == question.place) v.number = w.number;
        if (w.place == Place::away && (v.away == nullptr || w.number < v.away->number)) v.away = &w;
    }
    if (v.away != nullptr && v.away->number >= v.number) v.away = nullptr;
    std::vector<const Waiter*> others = line(), ahead;
    others.erase(std::remove_if(others.begin(), others.end(),
                                [&](const Waiter* w) { return w->id == question.place; }),
                 others.end());
    for (const Waiter* w : others)
        if (w->number < v.number) ahead.push_back(w);
    v.others = static_cast<std::int64_t>(others.size());
    v.rank = static_cast<std::int64_t>(ahead.size());
    if (v.rank >= 64 && v.number <= m_count) v.rank = std::min(v.others, 63 + v.number - ahead[63]->number);
    add_costs(v, ahead);
    std::int64_t all = 0;
    for (const Waiter* w : others)
        all += w->cost;
    if (v.rank > 64 && all > v.others) {
        v.cost_ahead += (v.rank - 64) * std::max<std::int64_t>(1, (all - v.cost_ahead) / (v.others - 64));
    } else if (v.rank > 64) {
        v.cost_ahead = v.rank;
    }
    return v;
}

void SlowKey::add_costs(View& v, const std::vector<const Waiter*>& ahead) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(ahead.size(), 64); ++i) {
        v.cost_ahead += ahead[i]->cost;
        if (i < 16) v.costs.push_back(ahead[i]->cost);
    }
}

// Without a rate those are paced who waited for the end of a pause, or have one of them at the head of the
// line.
bool SlowKey::recovers(const View& v) const {
    if (m_now < m_paused_until || v.number <= m_paced) return true;
    if (v.others == 0) return false;
    return line().front()->number <= m_paced;
}

SlowKey::Exact SlowKey::earliest_slot(const Rate& rate, std::size_t row, std::int64_t others) const {
    const auto later = [](const Exact& a, const Exact& b) {
        return std::pair(a.whole, a.part) < std::pair(b.whole, b.part) ? b : a;
    };
    Exact base = steps(rate, {m_now, 0}, -(std::min<std::int64_t>(others, 2) + rate.burst() - 1));
    if (m_paused_until > 0) base = later(base, {m_paused_until, 0});
    const Slots& last = m_slots[row];
    if (last.n == 0) return base;
    const Exact slot = last.n == rate.allow() ? last.slot : Exact{rounded_up(last.slot), 0};
    return later(base, steps(rate, slot, last.cost));
}

// When the windows have room for the asker, for those ahead who are due and for a caller that is about to
// come.
SlowKey::Windows SlowKey::look_at_windows(const std::vector<Rate>& rates, const View& v,
                                          bool successes) const {
    const bool caller_fits =
        v.away != nullptr && std::all_of(rates.begin(), rates.end(), [&](const Rate& rate) {
            return v.cost_due + v.cost + v.away->cost <= rate.allow();
        });
    Windows windows;
    for (const Rate& rate : rates) {
        std::int64_t taken = v.cost + v.cost_due;
        for (const auto& lease : m_leases)
            if (successes && lease.held && lease.open && lease.at <= m_now - rate.period().count()) ++taken;
        if (caller_fits && v.away->told < m_now + rate.period().count()) taken += v.away->cost;
        const std::int64_t before = static_cast<std::int64_t>(m_log.size()) - (rate.allow() - taken + 1);
        if (taken > rate.allow()) {
            windows.room = false;
        } else if (before >= 0) {
            const std::int64_t opens = m_log[static_cast<std::size_t>(before)] + rate.period().count();
            windows.open = std::max(windows.open, opens);
        }
    }
    return windows;
}

bool SlowKey::has_place(const View& v, const Terms& terms) const {
    if (!terms.concurrency()) return true;
    const std::int64_t free = *terms.concurrency() - places();
    std::int64_t ahead = v.count_due, awake = 0;
    if (ahead < free) return true;
    for (const Waiter* w : line())
        if (ahead-- > 0 && is_awake(*w)) ++awake;
    return awake < free;
}

SlowKey::View SlowKey::look(const Question& question, const Terms& terms) const {
    View v = stand(question);
    const bool paced = !terms.rates().empty() || recovers(v);
    v.rates = terms.rates();
    if (v.rates.empty() && paced) v.rates.push_back(*Rate::make(10, std::chrono::seconds{1}));
    for (std::size_t row = 0; row < v.rates.size(); ++row)
        v.bases.push_back(earliest_slot(v.rates[row], row, v.others));
    while (v.count_due < std::min<std::int64_t>(v.rank, 16) && v.due_after(v.cost_due) <= m_now)
        v.cost_due += v.costs[static_cast<std::size_t>(v.count_due++)];
    v.due = paced ? v.due_after(v.cost_ahead) : m_now;
    const std::int64_t base = paced ? v.due_after(0) : m_now;

    const bool may_fail = question.count_successes && open_attempts() > 0;
    std::int64_t grant = may_fail ? 0 : 100'000;
    for (const Rate& rate : terms.rates())
        grant = std::min<std::int64_t>(grant, rate.period().count());
    const Windows windows = look_at_windows(terms.rates(), v, question.count_successes);
    v.not_before = std::max(windows.open, m_last_start);
    v.at = std::max({m_now, base, v.not_before});
    const bool paused = m_now < m_paused_until, free = has_place(v, terms), soon = v.at <= m_now + grant;
    v.starts = !paused && windows.room && free && soon && v.rank < 64 && v.due <= m_now + grant;
    if (v.starts && !paced) v.bases.push_back({v.at, 0});
    const bool far = terms.concurrency() && v.rank >= 64;
    const bool by_lease = base <= m_now + grant && windows.room && soon && (!free || far);
    v.waits_for_lease = !v.starts && !paused && (may_fail || by_lease);
    v.until = std::max(v.due, v.not_before) - grant;
    if (v.until <= m_now && !paused) {
        const std::int64_t t = v.rates.empty() ? grant : v.rates[0].period().count() / v.rates[0].allow();
        v.until = m_now + std::max<std::int64_t>(1000, std::min(grant, t) / 2);
    }
    v.until = std::max(v.until, m_paused_until);
    return v;
}

void SlowKey::note_terms(const Terms& terms) {
    m_last_rates = terms.rates();
    if (terms.concurrency() || places() == 0) m_last_at_once = terms.concurrency().value_or(0);
}

void SlowKey::start(const Question& question, const Terms& terms, const View& v) {
    leave(question.place);
    for (std::size_t row = 0; row < terms.rates().size(); ++row)
        m_slots[row] = {v.bases[row], terms.rates()[row].allow(), v.cost};
    if (terms.rates().empty()) m_slots[0] = {v.bases[0], 10, 1};
    std::int64_t longest = terms.rates().empty() ? 1'000'000 : 0;
    for (const Rate& rate : terms.rates()) {
        for (m_log_room = std::max<std::size_t>(m_log_room, 8);
             static_cast<std::int64_t>(m_log_room) < rate.allow() + 1;)
            m_log_room *= 2;
        m_log_room = std::min<std::size_t>(m_log_room, 2045);
        longest = std::max<std::int64_t>(longest, rate.period().count());
    }
    if (!terms.rates().empty()) m_log.insert(m_log.end(), static_cast<std::size_t>(v.cost), v.at);
    if (m_log.size() > m_log_room)
        m_log.erase(m_log.begin(), m_log.end() - static_cast<std::ptrdiff_t>(m_log_room));
    m_last_start = v.at;
    m_recent.emplace_back(question.id, v.at);
    if (m_recent.size() > 1024) m_recent.erase(m_recent.begin());
    m_starts_until = std::max(m_starts_until, v.at + longest);
    m_known = true;
    note_terms(terms);
    if (!terms.concurrency() && !question.count_successes && !question.settles) return;
    put_lease({question.id, true, terms.concurrency().has_value(), question.count_successes, v.cost, v.at,
               v.at + question.lock_for.count(), question.lock_for.count(), question.who});
}

void SlowKey::wait_in_line(const Question& question, const Terms& terms, const View& v,
                           Duration told_for_a_lease, Answer& answer) {
    answer.wait = v.waits_for_lease ? told_for_a_lease : Duration{v.until - m_now};
    if (question.taking != Taking::place) return;
    if (!v.waits_for_lease && (!question.caller || m_paused_until == k_never)) {
        const Rate pace = terms.rates().empty() ? *Rate::make(10, std::chrono::seconds{1}) : terms.rates()[0];
        const std::int64_t t = pace.period().count() / pace.allow();
        const std::int64_t check =
            std::min<std::int64_t>(60'000'000, std::max({m_come_back_us, (v.others + 1) * 10'000, t / 4}));
        answer.wait = std::min(answer.wait, Duration{check * (16 + v.number % 17) / 32});
    }
    m_count = std::max(m_count, v.number);
    if (m_now < m_paused_until) m_paced = std::max(m_paced, v.number);
    const Waiter* before = find(question.place);
    Waiter waiter;
    waiter.id = question.place;
    waiter.number = v.number;
    waiter.told = m_now + answer.wait.count();
    waiter.keep = question.keep.count();
    waiter.cost = v.cost;
    waiter.caller = question.caller;
    if (v.waits_for_lease && !question.caller && v.rank < 4) {
        waiter.wake = before == nullptr ? 0 : before->wake;
        for (std::int64_t wake = 1; wake <= 4 && waiter.wake == 0; ++wake) {
            const bool taken = std::any_of(m_waiters.begin(), m_waiters.end(),
                                           [&](const Waiter& w) { return w.wake == wake; });
            if (!taken) waiter.wake = wake;
        }
    }
    put(waiter);
    m_known = true;
    note_terms(terms);
    answer.number = v.number;
    answer.wake = waiter.wake;
}

Answer SlowKey::ask(std::int64_t store_now_us, const Question& question, Duration told_for_a_lease) {
    open(store_now_us);
    Answer answer;
    answer.birth_us = m_birth;
    const auto repeated = std::find_if(m_recent.begin(), m_recent.end(),
                                       [&](const auto& start) { return start.first == question.id; });
    if (!question.fresh && repeated != m_recent.end()) {
        answer.kind = AnswerKind::start;
        answer.wait = answer.earliest = Duration{std::max<std::int64_t>(0, repeated->second - m_now)};
        const Held* lease = find_lease(question.id);
        answer.leased = question.taking != Taking::nothing && lease != nullptr && lease->held;
    } else {
        judge(question, told_for_a_lease, answer);
    }
    answer.places = places();
    answer.waiting = static_cast<std::int64_t>(line().size());
    close();
    return answer;
}

void SlowKey::judge(const Question& question, Duration told_for_a_lease, Answer& answer) {
    std::vector<Rate> rates = question.terms.given();
    if (question.count_successes) {
        for (Rate& rate : rates)
            rate = rate.as_window();
    }
    const Terms terms = Terms::make(rates, question.terms.concurrency()).value();
    View v = look(question, terms);
    if (v.waits_for_lease && v.rank < 4 && drop_the_dead()) v = look(question, terms);
    answer.number = v.number <= m_count ? v.number : 0;
    answer.ahead = v.rank;
    answer.earliest = Duration{std::max({m_now, v.due, v.not_before, m_paused_until}) - m_now};
    if (!v.starts) return wait_in_line(question, terms, v, told_for_a_lease, answer);
    answer.kind = AnswerKind::start;
    answer.wait = answer.earliest = Duration{v.at - m_now};
    if (question.taking == Taking::nothing) return;
    start(question, terms, v);
    const Held* lease = find_lease(question.id);
    answer.leased = lease != nullptr && lease->held;
}

}  // namespace jobthrottle::testing
