// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace jobthrottle {

// A random number that a runner makes for one start; a question asked again under it counts once.
using StartId = std::uint64_t;

// Names a place in a waiting list. A runner's is random with the top bit clear; one that a caller named
// (`admit --ticket NAME`) is a hash of the name with the top bit set, so that the two cannot meet.
using TicketId = std::uint64_t;
constexpr TicketId k_named_ticket_bit = TicketId{1} << 63;
TicketId named_ticket(std::string_view name);  // FNV-1a, 64 bits

enum class Place : std::uint8_t {
    in_line = 0,  // holds up those behind it
    out = 1,      // came late: keeps its number, holds nobody up
    away = 2,     // a late caller: room in the window is kept for one of these
};

// A place in the waiting list of a key. It is a position, not a promised time.
struct Ticket {
    Place place = Place::in_line;
    std::int64_t number = 0;   // tickets are numbered as they come, from 1
    std::int64_t told_us = 0;  // when its holder was told to ask again, on the key's clock
    Duration keep{};           // how long after that the ticket is kept
    bool caller = false;       // its holder was told the true time and does not come back in between
    // The wake-up that its holder listens to, 1 .. k_wakes; 0: none. Only who waits for a place that a lease
    // holds has one.
    std::int64_t wake = 0;
    bool offered = false;       // it was woken, for there is a place; not taken in time, the offer goes on
    std::int64_t cost = 1;      // starts that it will be counted as
    std::int64_t since_us = 0;  // when it joined the line, on the key's clock
    std::string who;            // "NAME user@host:pid", for inspect; at most k_who_bytes

    // When the ticket next changes by itself: steps out of the line, or is forgotten.
    std::int64_t deadline_us() const;
};
constexpr std::size_t k_who_bytes = 160;
// As every store keeps it; doc/state.md describes the bytes.
std::string encode(const Ticket&);
std::optional<Ticket> decode_ticket(std::string_view bytes);
constexpr std::int64_t k_wakes = 4;  // so many at the head of a line hold a wake-up

constexpr Duration k_late =
    std::chrono::milliseconds{100};  // later than told by more than this: out of the line
constexpr Duration k_runner_keep = std::chrono::minutes{10};   // then forgotten
constexpr Duration k_caller_keep = std::chrono::seconds{120};  // the default of --ticket-for

}  // namespace jobthrottle
