// SPDX-License-Identifier: MIT
#include "core/memory_records.hpp"

#include <iterator>

namespace jobthrottle {

namespace {

std::size_t index_of(std::int64_t position) {
    return static_cast<std::size_t>(position);
}

}  // namespace

void MemoryRecords::clear() {
    m_header.reset();
    m_log.clear();
    m_recent.clear();
    m_tickets.clear();
    m_in_line.clear();
    m_away.clear();
    m_deadlines.clear();
}

std::int64_t MemoryRecords::log_entry(std::int64_t position) const {
    return m_log.at(index_of(position));
}

void MemoryRecords::put_log_entry(std::int64_t position, std::int64_t short_us) {
    if (m_log.size() <= index_of(position)) m_log.resize(index_of(position) + 1);
    m_log[index_of(position)] = short_us;
}

std::optional<RecentStart> MemoryRecords::find_recent(StartId id) const {
    for (const auto& start : m_recent) {
        if (start.id == id) return start;
    }
    return std::nullopt;
}

void MemoryRecords::put_recent(std::int64_t position, const RecentStart& start) {
    if (m_recent.size() <= index_of(position)) m_recent.resize(index_of(position) + 1);
    m_recent[index_of(position)] = start;
}

std::optional<Ticket> MemoryRecords::ticket(TicketId id) const {
    const auto found = m_tickets.find(id);
    if (found == m_tickets.end()) return std::nullopt;
    return found->second;
}

void MemoryRecords::put_ticket(TicketId id, const Ticket& ticket) {
    if (m_tickets.count(id) > 0) remove_ticket(id);
    m_tickets.emplace(id, ticket);
    if (ticket.place == Place::in_line) m_in_line.insert(ticket.number);
    if (ticket.place == Place::away) m_away.insert(ticket.number);
    m_deadlines.emplace(ticket.deadline_us(), id);
}

void MemoryRecords::remove_ticket(TicketId id) {
    const auto found = m_tickets.find(id);
    if (found == m_tickets.end()) return;
    m_in_line.erase(found->second.number);
    m_away.erase(found->second.number);
    m_deadlines.erase({found->second.deadline_us(), id});
    m_tickets.erase(found);
}

std::int64_t MemoryRecords::in_line_before(std::int64_t number, std::int64_t at_most) const {
    std::int64_t count = 0;
    for (auto it = m_in_line.begin(); it != m_in_line.end() && *it < number && count < at_most; ++it)
        ++count;
    return count;
}

std::int64_t MemoryRecords::number_in_line(std::int64_t place) const {
    return *std::next(m_in_line.begin(), place);
}

std::optional<std::int64_t> MemoryRecords::lowest_away_number() const {
    if (m_away.empty()) return std::nullopt;
    return *m_away.begin();
}

std::optional<std::pair<TicketId, Ticket>> MemoryRecords::next_due() const {
    if (m_deadlines.empty()) return std::nullopt;
    const TicketId id = m_deadlines.begin()->second;
    return std::pair{id, m_tickets.at(id)};
}

}  // namespace jobthrottle
