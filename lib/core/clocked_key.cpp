// SPDX-License-Identifier: MIT
#include "core/clocked_key.hpp"

#include <algorithm>

namespace jobthrottle {

namespace {

constexpr std::int64_t k_offers_looked_at = 16;
constexpr std::int64_t k_longest_departure_us = 2'000'000;

std::int64_t wake_bit(std::int64_t wake) {
    return wake == 0 ? 0 : std::int64_t{1} << (wake - 1);
}

// Its end may let another one start.
bool is_waited_for(const Lease& lease) {
    return lease.held && (lease.place || lease.open);
}

}  // namespace

bool is_awake(const Ticket& ticket, std::int64_t now_us) {
    return ticket.wake != 0 || ticket.caller || ticket.told_us <= now_us;
}

ClockedKey::ClockedKey(KeyRecords& records, std::int64_t store_now_us) : m_records(records) {
    if (const auto header = records.header()) {
        m_header = *header;
        m_existed = true;
        m_loaded = m_header;
        m_header.offset_us = std::max(m_header.offset_us, m_header.seen_us - store_now_us);
    }
    m_now_us = store_now_us + m_header.offset_us;
    if (m_existed && m_header.leases > 0 && m_now_us > m_header.matters_until_us()) keep_living_leases();
    if (m_existed && m_now_us > m_header.matters_until_us()) {
        records.clear();
        m_header = Header{};
        m_loaded = m_header;
        m_existed = false;
        m_now_us = store_now_us;
    }
    if (!m_existed) {
        m_header.birth_us = m_loaded.birth_us = m_now_us;
        m_loaded.seen_us = m_now_us;
    }
    m_header.seen_us = m_now_us;
    sweep_tickets();
    sweep_leases();
}

// Tickets --------

std::optional<Ticket> ClockedKey::ticket(TicketId id) const {
    return m_existed ? m_records.ticket(id) : std::nullopt;
}

std::int64_t& ClockedKey::count_of(Place place) {
    if (place == Place::in_line) return m_header.in_line;
    return place == Place::out ? m_header.out : m_header.away;
}

void ClockedKey::put_ticket(TicketId id, Ticket ticket, const std::optional<Ticket>& before) {
    if (ticket.place != Place::in_line) {
        ticket.wake = 0;
        ticket.offered = false;
    }
    if (before) {
        --count_of(before->place);
        if (before->place == Place::in_line) {
            m_header.line_cost -= before->cost;
            m_room = m_room || ticket.place != Place::in_line;
        }
        m_header.wakes &= ~wake_bit(before->wake);
    }
    const bool others = m_header.in_line + m_header.out + m_header.away > 0;
    const std::int64_t forgotten_us = ticket.told_us + ticket.keep.count();
    m_header.tickets_until_us = others ? std::max(m_header.tickets_until_us, forgotten_us) : forgotten_us;
    ++count_of(ticket.place);
    if (ticket.place == Place::in_line) m_header.line_cost += ticket.cost;
    m_header.wakes |= wake_bit(ticket.wake);
    m_header.next_deadline_us = std::min(m_header.next_deadline_us, ticket.deadline_us());
    m_records.put_ticket(id, ticket);
}

void ClockedKey::remove_ticket(TicketId id, const Ticket& ticket) {
    m_room = true;
    --count_of(ticket.place);
    if (ticket.place == Place::in_line) m_header.line_cost -= ticket.cost;
    m_header.wakes &= ~wake_bit(ticket.wake);
    m_records.remove_ticket(id);
}

std::int64_t ClockedKey::free_wake() {
    for (std::int64_t wake = 1; wake <= k_wakes; ++wake) {
        if ((m_header.wakes & wake_bit(wake)) != 0) continue;
        m_records.silence(wake);
        return wake;
    }
    return 0;
}

void ClockedKey::sweep_tickets() {
    for (int swept = 0; swept < k_most_swept && m_header.next_deadline_us < m_now_us; ++swept) {
        auto due = m_records.next_due();
        m_header.next_deadline_us = due ? due->second.deadline_us() : k_forever_us;
        if (!due || due->second.deadline_us() >= m_now_us) return;
        auto& [id, ticket] = *due;
        if (ticket.place != Place::in_line) {
            remove_ticket(id, ticket);
            continue;
        }
        const auto before = ticket;
        ticket.place = ticket.caller ? Place::away : Place::out;
        put_ticket(id, ticket, before);
    }
}

// Leases --------

std::optional<Lease> ClockedKey::lease(LeaseId id) const {
    return m_existed ? m_records.lease(id) : std::nullopt;
}

void ClockedKey::count_lease(const Lease& lease, std::int64_t by) {
    m_header.leases += by;
    if (!lease.held) return;
    m_header.held += by;
    if (lease.place) m_header.places += by;
    if (lease.open) m_header.open += by;
}

void ClockedKey::put_lease(LeaseId id, const Lease& lease, const std::optional<Lease>& before) {
    const bool had = before && is_waited_for(*before);
    const bool has = is_waited_for(lease);
    if (before) count_lease(*before, -1);
    if (before && before->held && !lease.held) m_room = true;
    if (had && !has) note_departure();
    if (has && !had && m_header.places + m_header.open == 0) m_header.last_departure_us = m_now_us;
    const std::int64_t forgotten_us = lease.until_us + Lease::k_lost_lease_kept.count();
    m_header.leases_until_us =
        m_header.leases > 0 ? std::max(m_header.leases_until_us, forgotten_us) : forgotten_us;
    count_lease(lease, 1);
    m_header.next_lease_us = std::min(m_header.next_lease_us, lease.deadline_us());
    m_records.put_lease(id, lease);
}

void ClockedKey::remove_lease(LeaseId id, const Lease& lease) {
    count_lease(lease, -1);
    if (lease.held) m_room = true;
    if (is_waited_for(lease)) note_departure();
    m_records.remove_lease(id);
}

// How fast places become free, for those who wait far back. Times in which nobody left count as two seconds
// at the most: they say little about a line. The first to leave says how long all of them take.
void ClockedKey::note_departure() {
    const std::int64_t passed = std::min(m_now_us - m_header.last_departure_us, k_longest_departure_us);
    const std::int64_t held = std::max(m_header.places, m_header.open) + 1;
    m_header.departure_us =
        m_header.departure_us == 0 ? passed / held : (3 * m_header.departure_us + passed) / 4;
    m_header.last_departure_us = m_now_us;
}

void ClockedKey::sweep_leases() {
    for (int swept = 0; swept < k_most_swept && m_header.next_lease_us < m_now_us; ++swept) {
        auto due = m_records.next_lease_due();
        m_header.next_lease_us = due ? due->second.deadline_us() : k_forever_us;
        if (!due || due->second.deadline_us() >= m_now_us) return;
        auto& [id, lease] = *due;
        if (!lease.held) {
            remove_lease(id, lease);
            continue;
        }
        const auto before = lease;
        if (m_records.life_of(lease) == HolderLife::alive) {
            lease.until_us = m_now_us + lease.length_us;
        } else {
            lease.held = false;
        }
        put_lease(id, lease, before);
    }
}

// Nobody has asked for so long that the state would be over, but its leases may be held all the same.
void ClockedKey::keep_living_leases() {
    for (auto& [id, lease] : m_records.leases(k_most_leases_looked_at)) {
        if (!lease.held || m_records.life_of(lease) != HolderLife::alive) continue;
        const auto before = lease;
        lease.until_us = m_now_us + lease.length_us;
        put_lease(id, lease, before);
    }
}

bool ClockedKey::drop_dead_leases() {
    bool dropped = false;
    for (const auto& [id, lease] : m_records.leases(k_most_leases_looked_at)) {
        if (!lease.held || m_records.life_of(lease) != HolderLife::dead) continue;
        remove_lease(id, lease);
        dropped = true;
    }
    return dropped;
}

// Offers --------

// Who is woken has some time to ask; then its ticket steps out like any that is late, and the next is woken.
// False: its holder is dead.
bool ClockedKey::offer(TicketId id, const Ticket& before) {
    if (!m_records.wake(id, before.wake)) {
        remove_ticket(id, before);
        return false;
    }
    Ticket ticket = before;
    ticket.offered = true;
    ticket.told_us = m_now_us + k_offer.count();
    put_ticket(id, ticket, before);
    return true;
}

// One after the other in the line, as many as there is room for. False: one was dead, and the next has its
// turn.
bool ClockedKey::offer_to(std::int64_t free) {
    for (const auto& place : m_records.line_head(k_offers_looked_at)) {
        if (free <= 0) return true;
        const auto ticket = this->ticket(place.id);
        if (!ticket || !is_awake(*ticket, m_now_us)) continue;
        --free;
        if (ticket->wake == 0 || ticket->offered) continue;
        if (!offer(place.id, *ticket)) return false;
    }
    return true;
}

void ClockedKey::offer_places() {
    if (!m_room || m_header.wakes == 0 || paused()) return;
    for (int tries = 0; tries < k_most_swept; ++tries) {
        const std::int64_t places =
            m_header.last_concurrency > 0 ? m_header.last_concurrency - m_header.places : 1;
        if (offer_to(std::min(places, k_wakes))) return;
    }
}

void ClockedKey::save() {
    offer_places();
    if (fields_of(m_header) != fields_of(m_loaded)) m_records.put_header(m_header);
}

}  // namespace jobthrottle
