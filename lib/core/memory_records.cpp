// SPDX-License-Identifier: MIT
#include "core/memory_records.hpp"

#include <algorithm>
#include <iterator>

namespace jobthrottle {

namespace {

std::size_t index_of(std::int64_t position) {
    return static_cast<std::size_t>(position);
}

}  // namespace

void MemoryRecords::clear() {
    m_header.reset();
    for (auto& log : m_logs)
        log.clear();
    m_recent.clear();
    m_tickets.clear();
    m_in_line.clear();
    m_away.clear();
    m_deadlines.clear();
    m_leases.clear();
    m_lease_deadlines.clear();
    m_open.clear();
}

std::int64_t MemoryRecords::log_entry(std::size_t log, std::int64_t position) const {
    return m_logs.at(log).at(index_of(position));
}

void MemoryRecords::put_log_entries(std::size_t log, std::int64_t position, std::int64_t count,
                                    std::int64_t short_us) {
    auto& entries = m_logs.at(log);
    const std::size_t end = index_of(position + count);
    if (entries.size() < end) entries.resize(end);
    std::fill_n(entries.begin() + position, count, short_us);
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

void MemoryRecords::drop_recent(StartId id) {
    for (auto& start : m_recent) {
        if (start.id == id) start.id = 0;
    }
}

std::optional<Ticket> MemoryRecords::ticket(TicketId id) const {
    const auto found = m_tickets.find(id);
    if (found == m_tickets.end()) return std::nullopt;
    return found->second;
}

void MemoryRecords::put_ticket(TicketId id, const Ticket& ticket) {
    if (m_tickets.count(id) > 0) remove_ticket(id);
    m_tickets.emplace(id, ticket);
    if (ticket.place == Place::in_line) m_in_line.emplace(ticket.number, id);
    if (ticket.place == Place::away) m_away.emplace(ticket.number, id);
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
    for (auto it = m_in_line.begin(); it != m_in_line.end() && it->first < number && count < at_most; ++it)
        ++count;
    return count;
}

std::vector<LinePlace> MemoryRecords::line_head(std::int64_t count) const {
    std::vector<LinePlace> head;
    for (auto it = m_in_line.begin(); it != m_in_line.end() && count > 0; ++it, --count)
        head.push_back({it->first, it->second});
    return head;
}

std::optional<LinePlace> MemoryRecords::lowest_away() const {
    if (m_away.empty()) return std::nullopt;
    return LinePlace{m_away.begin()->first, m_away.begin()->second};
}

std::optional<std::pair<TicketId, Ticket>> MemoryRecords::next_due() const {
    if (m_deadlines.empty()) return std::nullopt;
    const TicketId id = m_deadlines.begin()->second;
    return std::pair{id, m_tickets.at(id)};
}

std::optional<Lease> MemoryRecords::lease(LeaseId id) const {
    const auto found = m_leases.find(id);
    if (found == m_leases.end()) return std::nullopt;
    return found->second;
}

void MemoryRecords::put_lease(LeaseId id, const Lease& lease) {
    if (m_leases.count(id) > 0) remove_lease(id);
    m_leases.emplace(id, lease);
    m_lease_deadlines.emplace(lease.deadline_us(), id);
    if (lease.held && lease.open) m_open.emplace(lease.at_us, id);
}

void MemoryRecords::remove_lease(LeaseId id) {
    const auto found = m_leases.find(id);
    if (found == m_leases.end()) return;
    m_lease_deadlines.erase({found->second.deadline_us(), id});
    m_open.erase({found->second.at_us, id});
    m_leases.erase(found);
}

std::optional<std::pair<LeaseId, Lease>> MemoryRecords::next_lease_due() const {
    if (m_lease_deadlines.empty()) return std::nullopt;
    const LeaseId id = m_lease_deadlines.begin()->second;
    return std::pair{id, m_leases.at(id)};
}

std::int64_t MemoryRecords::open_since(std::int64_t at_us, std::int64_t at_most) const {
    std::int64_t count = 0;
    for (auto it = m_open.begin(); it != m_open.end() && it->first <= at_us && count < at_most; ++it)
        ++count;
    return count;
}

std::vector<std::pair<LeaseId, Lease>> MemoryRecords::leases(std::int64_t at_most) const {
    std::vector<std::pair<LeaseId, Lease>> found;
    for (auto it = m_lease_deadlines.begin(); it != m_lease_deadlines.end() && at_most > 0; ++it, --at_most)
        found.emplace_back(it->second, m_leases.at(it->second));
    return found;
}

bool MemoryRecords::wake(TicketId id, std::int64_t) {
    if (m_dead && m_dead(id)) return false;
    m_woken.push_back(id);
    return true;
}

}  // namespace jobthrottle
