// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decide.hpp"
#include "core/memory_records.hpp"

namespace jobthrottle {

// Why a key is paused: what a provider said, or who set it by hand. Text from outside, unescaped.
struct PauseNote {
    std::string summary;    // "HTTP 429, Retry-After: 1800", or empty for one by hand
    std::string line;       // the line that was read, at most 200 bytes
    std::string stream;     // "stdout", "stderr", "exit code"
    std::string job;        // name of the job that saw it
    std::string who;        // "user@host:pid"
    std::string reason;     // --reason of a pause by hand
    std::int64_t at_s = 0;  // wall time, seconds since the epoch
};
std::string encode(const PauseNote&);  // netstrings in the order above
std::optional<PauseNote> decode_pause_note(std::string_view bytes);

// One place in a waiting list, as people see it.
struct Waiter {
    TicketId id = 0;
    Place place = Place::in_line;
    std::int64_t number = 0;
    bool caller = false;
    Duration waited{};     // since it joined
    Duration starts_in{};  // as things stand; meaningful in line
    Duration asks_in{};    // until the time it was told; negative when that is over
    std::int64_t cost = 1;
    bool offered = false;  // a place was offered to it
    std::string who;       // "NAME user@host:pid"
};

// An attempt under way, as people see it.
struct Holder {
    LeaseId id = 0;
    bool held = true;    // false: its lease ran out, and nobody has cleared it away yet
    bool place = true;   // it takes a concurrency place; otherwise it is only kept account of
    Duration age{};      // since its start
    Duration left{};     // of its lease; negative when that is over
    Duration renewed{};  // since the last renewal
    std::int64_t cost = 1;
    std::string who;  // "NAME user@host:pid"
};
Holder holder_of(LeaseId, const Lease&, std::int64_t now_us);

// One limit in force and how far it is used.
struct LimitReport {
    Rate rate;                   // with the burst that it has there
    std::int64_t starts = 0;     // in the window that ends now
    std::int64_t remaining = 0;  // starts that the window has room for
};

// Everything that is known of one key at one moment.
struct KeyReport {
    bool known = false;  // there is state, a registration or a note
    std::optional<Registration> registration;
    Terms terms;  // in force: registered, else the numbers of the last question; empty: none
    std::vector<LimitReport> limits;  // in the order of terms.rates(): the first paces
    std::int64_t places = 0;          // concurrency places in use
    Duration available_in{};          // until a newcomer could start, leases aside
    Duration paused_for{};            // zero: not paused
    bool paused_for_ever = false;
    bool paused_by_hand = false;
    std::optional<PauseNote> note;        // of the last pause, in force or not
    std::int64_t last_start_age_us = -1;  // -1: none known
    std::vector<Waiter> waiting;          // in line by number, then those who came late
    std::vector<Holder> holding;          // by start
    std::int64_t started = 0;             // since the state began
};

// Looks, changes nothing. `records` is a copy: opening a key sweeps late tickets in it.
KeyReport report_on(MemoryRecords records, std::int64_t store_now_us);

}  // namespace jobthrottle
