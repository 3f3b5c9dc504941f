// SPDX-License-Identifier: MIT
#include "core/clocked_key.hpp"

#include <algorithm>

namespace jobthrottle {

ClockedKey::ClockedKey(KeyRecords& records, std::int64_t store_now_us) : m_records(records) {
    if (const auto header = records.header()) {
        m_header = *header;
        m_existed = true;
        m_loaded = m_header;
        m_header.offset_us = std::max(m_header.offset_us, m_header.seen_us - store_now_us);
    }
    m_now_us = store_now_us + m_header.offset_us;
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
    sweep();
}

std::optional<Ticket> ClockedKey::ticket(TicketId id) const {
    return m_existed ? m_records.ticket(id) : std::nullopt;
}

std::int64_t& ClockedKey::count_of(Place place) {
    if (place == Place::in_line) return m_header.in_line;
    return place == Place::out ? m_header.out : m_header.away;
}

void ClockedKey::put_ticket(TicketId id, const Ticket& ticket, const std::optional<Ticket>& before) {
    if (before) --count_of(before->place);
    const bool others = m_header.in_line + m_header.out + m_header.away > 0;
    const std::int64_t forgotten_us = ticket.told_us + ticket.keep.count();
    m_header.tickets_until_us = others ? std::max(m_header.tickets_until_us, forgotten_us) : forgotten_us;
    ++count_of(ticket.place);
    m_header.next_deadline_us = std::min(m_header.next_deadline_us, ticket.deadline_us());
    m_records.put_ticket(id, ticket);
}

void ClockedKey::remove_ticket(TicketId id, const Ticket& ticket) {
    --count_of(ticket.place);
    m_records.remove_ticket(id);
}

void ClockedKey::sweep() {
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

void ClockedKey::save() {
    if (fields_of(m_header) != fields_of(m_loaded)) m_records.put_header(m_header);
}

}  // namespace jobthrottle
