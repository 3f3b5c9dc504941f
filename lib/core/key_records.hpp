// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/header.hpp"
#include "core/lease.hpp"
#include "core/registration.hpp"
#include "core/ticket.hpp"

namespace jobthrottle {

struct RecentStart {
    StartId id = 0;
    std::int64_t short_us = 0;  // see shorten()
};

// A ticket as the order of a line knows it.
struct LinePlace {
    std::int64_t number = 0;
    TicketId id = 0;
};

// What a store keeps of one key, as the decision reads and writes it within one transaction. The decision
// asks for single entries, never for all, so that its work does not grow with the limit. A store that cannot
// read or write remembers the failure itself and gives its transaction up afterwards; what it returns
// meanwhile does not matter.
class KeyRecords {
public:
    virtual ~KeyRecords() = default;

    virtual std::optional<Header> header() const = 0;
    virtual void put_header(const Header&) = 0;
    // Drops header, logs, recent starts, tickets and leases; not what is registered.
    virtual void clear() = 0;

    // The logs of starts, by the row of the header that describes them: short times at positions
    // 0 .. log_capacity - 1. Unwritten positions are never asked for.
    virtual std::int64_t log_entry(std::size_t log, std::int64_t position) const = 0;
    // The same time at `count` positions from this one on, which do not reach over the end.
    virtual void put_log_entries(std::size_t log, std::int64_t position, std::int64_t count,
                                 std::int64_t short_us) = 0;
    virtual void replace_log(std::size_t log, const std::vector<std::int64_t>& short_times) = 0;

    // The ring of recent starts: positions 0 .. k_recent_starts - 1.
    virtual std::optional<RecentStart> find_recent(StartId) const = 0;
    virtual void put_recent(std::int64_t position, const RecentStart&) = 0;
    // Forgets the id of a start that was given back. Fine where there is none.
    virtual void drop_recent(StartId) = 0;

    // Tickets, with two orders that the store keeps in step: by number within a place, and by deadline.
    virtual std::optional<Ticket> ticket(TicketId) const = 0;
    virtual void put_ticket(TicketId, const Ticket&) = 0;  // new, or in place of the one with this id
    virtual void remove_ticket(TicketId) = 0;              // one that exists
    // How many tickets in line have a smaller number; counting stops at `at_most`.
    virtual std::int64_t in_line_before(std::int64_t number, std::int64_t at_most) const = 0;
    // The first `count` in line, in order; fewer where there are fewer.
    virtual std::vector<LinePlace> line_head(std::int64_t count) const = 0;
    virtual std::optional<LinePlace> lowest_away() const = 0;
    // The ticket with the earliest deadline; of equals the one with the smallest id.
    virtual std::optional<std::pair<TicketId, Ticket>> next_due() const = 0;

    // Leases, with two orders likewise: by deadline, and by start of those that are open and held.
    virtual std::optional<Lease> lease(LeaseId) const = 0;
    virtual void put_lease(LeaseId, const Lease&) = 0;
    virtual void remove_lease(LeaseId) = 0;                                       // one that exists
    virtual std::optional<std::pair<LeaseId, Lease>> next_lease_due() const = 0;  // like next_due()
    // How many open ones started at this time or earlier; counting stops at `at_most`.
    virtual std::int64_t open_since(std::int64_t at_us, std::int64_t at_most) const = 0;
    // At most so many, by deadline.
    virtual std::vector<std::pair<LeaseId, Lease>> leases(std::int64_t at_most) const = 0;
    virtual HolderLife life_of(const Lease&) const = 0;

    // Wakes the holder of a ticket that has this wake-up. False: it is surely dead.
    virtual bool wake(TicketId, std::int64_t wake) = 0;
    // The wake-up gets another holder: nothing that is on its way may reach the new one.
    virtual void silence(std::int64_t wake) = 0;

    virtual std::optional<Registration> registration() const = 0;
    virtual void put_registration(const std::optional<Registration>&) = 0;

    // The evidence of the last pause, as encode(PauseNote) makes it.
    virtual std::string pause_note() const = 0;
    virtual void put_pause_note(const std::string&) = 0;
};

}  // namespace jobthrottle
