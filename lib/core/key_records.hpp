// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/header.hpp"
#include "core/registration.hpp"
#include "core/ticket.hpp"

namespace jobthrottle {

struct RecentStart {
    StartId id = 0;
    std::int64_t short_us = 0;  // see shorten()
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
    // Drops header, log, recent starts and tickets; not what is registered.
    virtual void clear() = 0;

    // The log of starts: short times at positions 0 .. log_capacity - 1. Unwritten positions are never asked
    // for.
    virtual std::int64_t log_entry(std::int64_t position) const = 0;
    virtual void put_log_entry(std::int64_t position, std::int64_t short_us) = 0;
    virtual void replace_log(const std::vector<std::int64_t>& short_times) = 0;

    // The ring of recent starts: positions 0 .. k_recent_starts - 1.
    virtual std::optional<RecentStart> find_recent(StartId) const = 0;
    virtual void put_recent(std::int64_t position, const RecentStart&) = 0;

    // Tickets, with two orders that the store keeps in step: by number within a place, and by deadline.
    virtual std::optional<Ticket> ticket(TicketId) const = 0;
    virtual void put_ticket(TicketId, const Ticket&) = 0;  // new, or in place of the one with this id
    virtual void remove_ticket(TicketId) = 0;              // one that exists
    // How many tickets in line have a smaller number; counting stops at `at_most`.
    virtual std::int64_t in_line_before(std::int64_t number, std::int64_t at_most) const = 0;
    // The number of the ticket at this place in line, from 0. REQUIRES: there is one.
    virtual std::int64_t number_in_line(std::int64_t place) const = 0;
    virtual std::optional<std::int64_t> lowest_away_number() const = 0;
    // The ticket with the earliest deadline; of equals the one with the smallest id.
    virtual std::optional<std::pair<TicketId, Ticket>> next_due() const = 0;

    virtual std::optional<Registration> registration() const = 0;
    virtual void put_registration(const std::optional<Registration>&) = 0;

    // The evidence of the last pause, as encode(PauseNote) makes it.
    virtual std::string pause_note() const = 0;
    virtual void put_pause_note(const std::string&) = 0;
};

}  // namespace jobthrottle
