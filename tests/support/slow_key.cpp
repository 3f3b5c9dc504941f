// SPDX-License-Identifier: MIT
// What there is, and how it changes by itself; the judging is in slow_judgement.cpp.
#include "support/slow_key.hpp"

#include <algorithm>

namespace jobthrottle::testing {

namespace {

constexpr std::int64_t k_late_us = 100'000, k_offer_us = 500'000, k_lost_kept_us = 600'000'000;
constexpr std::int64_t k_never = std::int64_t{1} << 52;

template <class Things, class Id>
auto* find_in(Things& things, Id id) {
    const auto found = std::find_if(things.begin(), things.end(), [&](const auto& t) { return t.id == id; });
    return found == things.end() ? nullptr : &*found;
}

template <class Things, class Id>
void erase_from(Things& things, Id id) {
    things.erase(std::remove_if(things.begin(), things.end(), [&](const auto& t) { return t.id == id; }),
                 things.end());
}

// The one that changes by itself first; of equals the one with the smallest id.
template <class Things>
auto* first_due(Things& things) {
    const auto due = [](const auto& t) { return std::pair(t.deadline(), t.id); };
    const auto first = std::min_element(things.begin(), things.end(),
                                        [&](const auto& a, const auto& b) { return due(a) < due(b); });
    return first == things.end() ? nullptr : &*first;
}

}  // namespace

std::int64_t SlowKey::Waiter::deadline() const {
    return told + (place == Place::in_line ? std::min(k_late_us, keep) : keep);
}
std::int64_t SlowKey::Held::deadline() const {
    return held ? until : until + k_lost_kept_us;
}

std::int64_t SlowKey::idle_after() const {
    return std::max({m_starts_until, m_paused_until, m_waiters.empty() ? 0 : m_tickets_until,
                     m_leases.empty() ? 0 : m_leases_until});
}

void SlowKey::open(std::int64_t store_now) {
    m_room = false;
    if (m_known) m_offset = std::max(m_offset, m_now - store_now);
    m_now = store_now + m_offset;
    if (m_known && m_now > idle_after()) keep_the_living();
    if (m_known && m_now > idle_after()) {
        SlowKey fresh(m_come_back_us);
        fresh.m_life = m_life;
        fresh.m_woken = m_woken;
        *this = fresh;
        m_now = store_now;
    }
    if (!m_known) m_birth = m_now;
    sweep();
}

// Who was woken has half a second to ask.
void SlowKey::close() {
    const bool wakes =
        std::any_of(m_waiters.begin(), m_waiters.end(), [](const Waiter& w) { return w.wake > 0; });
    if (!m_room || !wakes || m_now < m_paused_until) return;
    std::int64_t free = m_last_at_once > 0 ? std::min<std::int64_t>(m_last_at_once - places(), 4) : 1;
    std::vector<Waiter> first;
    for (const Waiter* w : line())
        if (first.size() < 16) first.push_back(*w);
    for (Waiter& w : first) {
        if (free <= 0) return;
        if (!is_awake(w)) continue;
        --free;
        if (w.wake == 0 || w.offered) continue;
        m_woken.push_back(w.id);
        w.offered = true;
        w.told = m_now + k_offer_us;
        put(w);
    }
}

void SlowKey::sweep() {
    for (int i = 0; i < 16; ++i) {
        const Waiter* first = first_due(m_waiters);
        if (first == nullptr || first->deadline() >= m_now) break;
        Waiter moved = *first;
        if (moved.place != Place::in_line) {
            leave(moved.id);
            continue;
        }
        moved.place = moved.caller ? Place::away : Place::out;
        put(moved);
    }
    for (int i = 0; i < 16; ++i) {
        const Held* first = first_due(m_leases);
        if (first == nullptr || first->deadline() >= m_now) break;
        Held moved = *first;
        if (!moved.held) {
            end_lease(moved.id);
            continue;
        }
        if (m_life && m_life(moved.who) == HolderLife::alive) {
            moved.until = m_now + moved.length;
        } else {
            moved.held = false;
        }
        put_lease(moved);
    }
}

// Tickets --------

SlowKey::Waiter* SlowKey::find(TicketId id) {
    return find_in(m_waiters, id);
}

void SlowKey::put(const Waiter& waiter) {
    const Waiter* before = find(waiter.id);
    if (before != nullptr && before->place == Place::in_line && waiter.place != Place::in_line) m_room = true;
    erase_from(m_waiters, waiter.id);
    const std::int64_t over = waiter.told + waiter.keep;
    m_tickets_until = m_waiters.empty() ? over : std::max(m_tickets_until, over);
    m_waiters.push_back(waiter);
    if (waiter.place == Place::in_line) return;
    m_waiters.back().wake = 0;
    m_waiters.back().offered = false;
}

void SlowKey::leave(TicketId id) {
    if (find(id) != nullptr) m_room = true;
    erase_from(m_waiters, id);
}

std::vector<const SlowKey::Waiter*> SlowKey::line() const {
    std::vector<const Waiter*> line;
    for (const auto& w : m_waiters)
        if (w.place == Place::in_line) line.push_back(&w);
    std::sort(line.begin(), line.end(),
              [](const Waiter* a, const Waiter* b) { return a->number < b->number; });
    return line;
}

bool SlowKey::is_awake(const Waiter& w) const {
    return w.wake > 0 || w.caller || w.told <= m_now;
}

// Leases --------

SlowKey::Held* SlowKey::find_lease(LeaseId id) {
    return find_in(m_leases, id);
}

std::int64_t SlowKey::places() const {
    return std::count_if(m_leases.begin(), m_leases.end(), [](const Held& l) { return l.held && l.place; });
}

std::int64_t SlowKey::open_attempts() const {
    return std::count_if(m_leases.begin(), m_leases.end(), [](const Held& l) { return l.held && l.open; });
}

void SlowKey::put_lease(const Held& lease) {
    const Held* before = find_lease(lease.id);
    if (before != nullptr && before->held && !lease.held) m_room = true;
    erase_from(m_leases, lease.id);
    const std::int64_t over = lease.until + k_lost_kept_us;
    m_leases_until = m_leases.empty() ? over : std::max(m_leases_until, over);
    m_leases.push_back(lease);
}

void SlowKey::end_lease(LeaseId id) {
    if (find_lease(id)->held) m_room = true;
    erase_from(m_leases, id);
}

void SlowKey::keep_the_living() {
    for (Held lease : std::vector<Held>(m_leases)) {
        if (!lease.held || !m_life || m_life(lease.who) != HolderLife::alive) continue;
        lease.until = m_now + lease.length;
        put_lease(lease);
    }
}

bool SlowKey::drop_the_dead() {
    bool dropped = false;
    for (const Held& lease : std::vector<Held>(m_leases)) {
        if (!lease.held || !m_life || m_life(lease.who) != HolderLife::dead) continue;
        end_lease(lease.id);
        dropped = true;
    }
    return dropped;
}

// What changes a start --------

void SlowKey::charge(std::int64_t at, std::int64_t by) {
    charge_log(at, by);
    for (std::size_t row = 0; row < m_last_rates.size(); ++row) {
        const Rate& rate = m_last_rates[row];
        Slots& last = m_slots[row];
        if (last.n != rate.allow()) continue;
        const Exact before = last.slot, most = steps(rate, {at + rate.period().count(), 0}, -last.cost);
        last.slot = steps(rate, before, by);
        const auto moment = [](const Exact& e) { return std::pair(e.whole, e.part); };
        if (by > 0 && moment(last.slot) > moment(most))
            last.slot = moment(before) > moment(most) ? before : most;
    }
    if (by < 0) m_room = true;
}

void SlowKey::charge_log(std::int64_t at, std::int64_t by) {
    std::int64_t longest = 0;
    for (const Rate& rate : m_last_rates)
        longest = std::max(longest, rate.period().count());
    const bool full = !m_log.empty() && m_log.size() == m_log_room;
    if (by < 0 && full && m_log.front() > std::max(m_now, m_last_start) - longest) return;
    for (; by < 0; ++by) {
        const auto found = std::find(m_log.begin(), m_log.end(), at);
        if (found == m_log.end()) return;
        m_log.erase(found);
    }
    if (m_log_room == 0) return;
    m_log.insert(std::upper_bound(m_log.begin(), m_log.end(), at), static_cast<std::size_t>(by), at);
    while (m_log.size() > m_log_room)
        m_log.erase(m_log.begin());
}

bool SlowKey::cancel(std::int64_t store_now_us, TicketId id) {
    open(store_now_us);
    const bool there = find(id) != nullptr;
    leave(id);
    close();
    return there;
}

void SlowKey::pause(std::int64_t store_now_us, std::int64_t length_us) {
    open(store_now_us);
    const std::int64_t until = length_us < 0 ? k_never : m_now + length_us;
    if (until > m_paused_until) m_paced = m_count;
    m_paused_until = std::max(m_paused_until, until);
    m_known = true;
    close();
}

void SlowKey::resume(std::int64_t store_now_us) {
    open(store_now_us);
    if (m_paused_until > m_now) m_room = true;
    m_paused_until = std::min(m_paused_until, m_now);
    close();
}

LeaseState SlowKey::renew(std::int64_t store_now_us, LeaseId id, std::int64_t lock_for_us) {
    open(store_now_us);
    LeaseState state = LeaseState::unknown;
    if (const Held* found = find_lease(id)) {
        Held lease = *found;
        const bool room = !lease.place || m_last_at_once == 0 || places() < m_last_at_once;
        state = lease.held ? LeaseState::held : room ? LeaseState::retaken : LeaseState::lost;
        if (state != LeaseState::lost) {
            if (lock_for_us > 0) lease.length = lock_for_us;
            lease.held = true;
            lease.until = m_now + lease.length;
            put_lease(lease);
        }
    }
    close();
    return state;
}

LeaseState SlowKey::release(std::int64_t store_now_us, LeaseId id, bool give_back) {
    open(store_now_us);
    LeaseState state = LeaseState::unknown;
    if (const Held* found = find_lease(id)) {
        const Held lease = *found;
        state = lease.held ? LeaseState::held : LeaseState::lost;
        end_lease(id);
        if (give_back && lease.cost > 0) charge(lease.at, -lease.cost);
    }
    close();
    return state;
}

LeaseState SlowKey::settle(std::int64_t store_now_us, LeaseId id, std::int64_t cost) {
    open(store_now_us);
    LeaseState state = LeaseState::unknown;
    if (const Held* found = find_lease(id)) {
        Held lease = *found;
        state = lease.held ? LeaseState::held : LeaseState::lost;
        if (cost != lease.cost) charge(lease.at, cost - lease.cost);
        lease.cost = cost;
        put_lease(lease);
    }
    close();
    return state;
}

}  // namespace jobthrottle::testing
