// SPDX-License-Identifier: MIT
// The waiting list of a key: tickets, by number within a place and by deadline.
#include "store/local/records.hpp"

namespace jobthrottle::local {

namespace {

LinePlace line_place(const Transaction::Entry& entry) {
    return {RecordKey::number_at(entry.key, k_number_at), RecordKey::id_at(entry.key, k_id_at)};
}

}  // namespace

std::optional<Ticket> LocalRecords::ticket(TicketId id) const {
    const auto payload = known() ? m_txn.get(key(k_ticket).id(id)) : std::nullopt;
    if (!payload) return std::nullopt;
    auto ticket = decode_ticket(*payload);
    if (!ticket) m_txn.fail_damaged();
    return ticket;
}

void LocalRecords::add_orders(TicketId id, const Ticket& ticket) {
    if (ticket.place == Place::in_line) m_txn.put(key(k_in_line).number(ticket.number).id(id), {});
    if (ticket.place == Place::away) m_txn.put(key(k_away).number(ticket.number).id(id), {});
    m_txn.put(key(k_deadline).number(ticket.deadline_us()).id(id), {});
}

void LocalRecords::remove_orders(TicketId id, const Ticket& ticket) {
    if (ticket.place == Place::in_line) m_txn.remove(key(k_in_line).number(ticket.number).id(id));
    if (ticket.place == Place::away) m_txn.remove(key(k_away).number(ticket.number).id(id));
    m_txn.remove(key(k_deadline).number(ticket.deadline_us()).id(id));
}

void LocalRecords::put_ticket(TicketId id, const Ticket& ticket) {
    be_known();
    const auto before = this->ticket(id);
    if (before && before->place == ticket.place && before->number == ticket.number) {
        if (before->deadline_us() != ticket.deadline_us()) {
            m_txn.remove(key(k_deadline).number(before->deadline_us()).id(id));
            m_txn.put(key(k_deadline).number(ticket.deadline_us()).id(id), {});
        }
    } else {
        if (before) remove_orders(id, *before);
        add_orders(id, ticket);
    }
    m_txn.put(key(k_ticket).id(id), encode(ticket));
}

void LocalRecords::remove_ticket(TicketId id) {
    const auto before = ticket(id);
    if (!before) return;
    remove_orders(id, *before);
    m_txn.remove(key(k_ticket).id(id));
}

std::int64_t LocalRecords::in_line_before(std::int64_t number, std::int64_t at_most) const {
    std::int64_t count = 0;
    walk(k_in_line, at_most, [&](const Transaction::Entry& entry) {
        if (line_place(entry).number >= number) return false;
        ++count;
        return true;
    });
    return count;
}

std::vector<LinePlace> LocalRecords::line_head(std::int64_t count) const {
    std::vector<LinePlace> head;
    walk(k_in_line, count, [&](const Transaction::Entry& entry) {
        head.push_back(line_place(entry));
        return true;
    });
    return head;
}

std::optional<LinePlace> LocalRecords::lowest_away() const {
    std::optional<LinePlace> lowest;
    walk(k_away, 1, [&](const Transaction::Entry& entry) {
        lowest = line_place(entry);
        return true;
    });
    return lowest;
}

std::optional<std::pair<TicketId, Ticket>> LocalRecords::next_due() const {
    std::optional<TicketId> id;
    walk(k_deadline, 1, [&](const Transaction::Entry& entry) {
        id = RecordKey::id_at(entry.key, k_id_at);
        return true;
    });
    if (!id) return std::nullopt;
    const auto ticket = this->ticket(*id);
    if (!ticket) {
        m_txn.fail_damaged();
        return std::nullopt;
    }
    return std::pair{*id, *ticket};
}

bool LocalRecords::wake(TicketId id, std::int64_t) {
    return m_waker == nullptr || m_waker->wake(id);
}

void LocalRecords::copy_tickets(MemoryRecords& copy) const {
    walk(k_ticket, k_all, [&](const Transaction::Entry& entry) {
        const auto ticket = decode_ticket(entry.payload);
        if (ticket) copy.put_ticket(RecordKey::id_at(entry.key, k_number_at), *ticket);
        return true;
    });
}

}  // namespace jobthrottle::local
