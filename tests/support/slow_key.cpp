// SPDX-License-Identifier: MIT
#include "support/slow_key.hpp"

#include <algorithm>

namespace jobthrottle::testing {

namespace {

constexpr std::int64_t k_late_us = 100'000;
constexpr std::int64_t k_never = std::int64_t{1} << 52;

std::int64_t deadline(Place place, std::int64_t told, std::int64_t keep) {
    return told + (place == Place::in_line ? std::min(k_late_us, keep) : keep);
}

}  // namespace

struct SlowKey::View {
    std::int64_t number = 0, others = 0, rank = 0, lowest_away = k_never;
    Exact base;
    std::int64_t due = 0, at = 0, not_before = 0, grant = 0;
    bool starts = false;
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

std::int64_t SlowKey::open(std::int64_t store_now) {
    if (m_known) m_offset = std::max(m_offset, m_now - store_now);
    const std::int64_t tickets_until = m_waiters.empty() ? 0 : m_tickets_until;
    if (m_known && store_now + m_offset > std::max({m_starts_until, m_paused_until, tickets_until})) {
        *this = SlowKey(m_come_back_us);
    }
    m_now = store_now + m_offset;
    if (!m_known) m_birth = m_now;
    sweep();
    return m_now;
}

void SlowKey::sweep() {
    const auto due = [](const Waiter& w) { return std::pair(deadline(w.place, w.told, w.keep), w.id); };
    for (int i = 0; i < 16 && !m_waiters.empty(); ++i) {
        const auto first =
            std::min_element(m_waiters.begin(), m_waiters.end(),
                             [&](const Waiter& a, const Waiter& b) { return due(a) < due(b); });
        if (due(*first).first >= m_now) return;
        if (first->place != Place::in_line) {
            leave(first->id);
            continue;
        }
        first->place = first->caller ? Place::away : Place::out;
        if (m_waiters.size() == 1) m_tickets_until = first->told + first->keep;
    }
}

SlowKey::Waiter* SlowKey::find(TicketId id) {
    const auto found =
        std::find_if(m_waiters.begin(), m_waiters.end(), [&](const Waiter& w) { return w.id == id; });
    return found == m_waiters.end() ? nullptr : &*found;
}

void SlowKey::leave(TicketId id) {
    m_waiters.erase(
        std::remove_if(m_waiters.begin(), m_waiters.end(), [&](const Waiter& w) { return w.id == id; }),
        m_waiters.end());
}

SlowKey::View SlowKey::stand(TicketId id) const {
    View v;
    v.number = m_count + 1;
    std::vector<std::int64_t> line;
    for (const auto& w : m_waiters) {
        if (w.id == id) {
            v.number = w.number;
        } else if (w.place == Place::in_line) {
            line.push_back(w.number);
        } else if (w.place == Place::away) {
            v.lowest_away = std::min(v.lowest_away, w.number);
        }
    }
    std::sort(line.begin(), line.end());
    v.others = static_cast<std::int64_t>(line.size());
    v.rank = std::lower_bound(line.begin(), line.end(), v.number) - line.begin();
    if (v.rank >= 64 && v.number <= m_count) v.rank = std::min(v.others, 63 + v.number - line[63]);
    return v;
}

SlowKey::Exact SlowKey::earliest_slot(const Rate& rate, std::int64_t others) const {
    const auto later = [](const Exact& a, const Exact& b) {
        return std::pair(a.whole, a.part) < std::pair(b.whole, b.part) ? b : a;
    };
    Exact base = steps(rate, {m_now, 0}, -(std::min<std::int64_t>(others, 2) + rate.burst() - 1));
    if (m_paused_until > 0) base = later(base, {m_paused_until, 0});
    if (m_slot_n == 0) return base;
    const bool same = m_slot_n == rate.allow();
    return later(base, steps(rate, same ? m_slot : Exact{rounded_up(m_slot), 0}, 1));
}

// When the window has room for the asker and for those ahead who are due; nothing where it has none for it.
std::optional<std::int64_t> SlowKey::window_opens(const Rate& rate, const View& v) const {
    std::int64_t ahead = 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(v.rank, 16); ++i) {
        if (rounded_up(steps(rate, v.base, i)) <= m_now) ++ahead;
    }
    if (ahead < rate.allow() - 1 && v.lowest_away < v.number) ++ahead;
    if (ahead >= rate.allow()) return std::nullopt;
    const std::int64_t before = static_cast<std::int64_t>(m_log.size()) - (rate.allow() - ahead);
    return before < 0 ? 0 : m_log[static_cast<std::size_t>(before)] + rate.period().count();
}

// Without a rate those are paced who waited for the end of a pause, or have one of them at the head of the
// line.
bool SlowKey::recovers(const View& v) const {
    if (v.number <= m_paced) return true;
    if (v.others == 0) return false;
    std::int64_t head = k_never;
    for (const auto& w : m_waiters)
        if (w.place == Place::in_line) head = std::min(head, w.number);
    return head <= m_paced;
}

SlowKey::View SlowKey::look(const Rate& rate, bool paced_only, TicketId id) const {
    View v = stand(id);
    v.grant = std::min<std::int64_t>(100'000, rate.period().count());
    v.base = earliest_slot(rate, v.others);
    v.due = rounded_up(steps(rate, v.base, v.rank));
    const auto opens = paced_only ? std::optional<std::int64_t>{0} : window_opens(rate, v);
    v.not_before = std::max(opens.value_or(0), m_last_start);
    v.at = std::max({m_now, rounded_up(v.base), v.not_before});
    const bool paused = m_now < m_paused_until;
    v.starts = !paused && opens && v.rank < 64 && v.due <= m_now + v.grant && v.at <= m_now + v.grant;
    if (paced_only && !paused && !recovers(v)) {
        v.at = std::max(m_now, m_last_start);
        v.base = {v.at, 0};
        v.due = m_now;
        v.starts = v.at <= m_now + v.grant && v.rank < 64;
    }
    return v;
}

Answer SlowKey::wait_in_line(const Question& question, const Rate& rate, const View& v, Answer answer) {
    const std::int64_t t = rate.period().count() / rate.allow();
    std::int64_t until = std::max(v.due, v.not_before) - v.grant;
    if (until <= m_now && m_now >= m_paused_until) {
        until = m_now + std::max<std::int64_t>(1000, std::min(v.grant, t) / 2);
    }
    std::int64_t told = std::max(until, m_paused_until);
    answer.wait = Duration{told - m_now};
    if (question.taking != Taking::place) return answer;

    if (!question.caller || m_paused_until == k_never) {
        const std::int64_t check =
            std::min<std::int64_t>(60'000'000, std::max({m_come_back_us, (v.others + 1) * 10'000, t / 4}));
        told = std::min(told, m_now + check * (16 + v.number % 17) / 32);
    }
    m_count = std::max(m_count, v.number);
    if (m_now < m_paused_until) m_paced = std::max(m_paced, v.number);
    leave(question.place);
    const std::int64_t keep = question.keep.count();
    m_tickets_until = m_waiters.empty() ? told + keep : std::max(m_tickets_until, told + keep);
    m_waiters.push_back({question.place, v.number, told, keep, Place::in_line, question.caller});
    m_known = true;
    answer.number = v.number;
    answer.wait = Duration{told - m_now};
    return answer;
}

Answer SlowKey::ask(std::int64_t store_now_us, const Question& question) {
    open(store_now_us);
    Answer answer;
    answer.birth_us = m_birth;
    for (const auto& [id, at] : m_recent) {
        if (question.fresh || id != question.id) continue;
        answer.kind = AnswerKind::start;
        answer.wait = answer.earliest = Duration{std::max<std::int64_t>(0, at - m_now)};
        return answer;
    }
    const bool paced_only = question.terms.rates().empty();
    const Rate limit = paced_only ? *Rate::make(10, std::chrono::seconds{1}) : question.terms.rates().front();
    const View v = look(limit, paced_only, question.place);
    answer.number = v.number <= m_count ? v.number : 0;
    answer.ahead = v.rank;
    answer.earliest = Duration{std::max({m_now, v.due, v.not_before, m_paused_until}) - m_now};
    if (!v.starts) return wait_in_line(question, limit, v, answer);

    answer.kind = AnswerKind::start;
    answer.wait = answer.earliest = Duration{v.at - m_now};
    if (question.taking == Taking::nothing) return answer;
    leave(question.place);
    m_slot = v.base;
    m_slot_n = limit.allow();
    m_last_start = v.at;
    if (!paced_only) {
        for (m_log_room = std::max<std::size_t>(m_log_room, 8);
             static_cast<std::int64_t>(m_log_room) <= limit.allow();)
            m_log_room *= 2;
        m_log.push_back(v.at);
        if (m_log.size() > std::min<std::size_t>(m_log_room, 2045)) m_log.erase(m_log.begin());
    }
    m_recent.emplace_back(question.id, v.at);
    if (m_recent.size() > 1024) m_recent.erase(m_recent.begin());
    m_starts_until = std::max(m_starts_until, v.at + limit.period().count());
    m_known = true;
    return answer;
}

bool SlowKey::cancel(std::int64_t store_now_us, TicketId id) {
    open(store_now_us);
    const bool there = find(id) != nullptr;
    leave(id);
    return there;
}

void SlowKey::pause(std::int64_t store_now_us, std::int64_t length_us) {
    open(store_now_us);
    const std::int64_t until = length_us < 0 ? k_never : m_now + length_us;
    if (until > m_paused_until) m_paced = m_count;
    m_paused_until = std::max(m_paused_until, until);
    m_known = true;
}

void SlowKey::resume(std::int64_t store_now_us) {
    open(store_now_us);
    if (m_paused_until > m_now) m_paused_until = m_now;
}

}  // namespace jobthrottle::testing
