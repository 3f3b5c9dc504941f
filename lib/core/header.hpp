// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/slots.hpp"
#include "core/terms.hpp"

namespace jobthrottle {

// One of up to four rows of a header. The three parts of a row have nothing to do with each other: the n-th
// slot is that of the n-th limit in force, the n-th log is one of those that the limits need (start_log.hpp),
// and the n-th numbers are those that the last question was judged by.
struct LimitRow {
    static constexpr std::size_t k_fields = 12;

    std::int64_t slot_us = 0;     // the last slot taken,
    std::int64_t slot_rest = 0;   // its remainder in slot_allow-ths of a microsecond,
    std::int64_t slot_allow = 0;  // (0: no slot was taken yet)
    std::int64_t slot_cost = 0;   // and how many slots wide the start was

    std::int64_t log_group = 0;     // so many starts share one entry; 0: there is no such log
    std::int64_t log_capacity = 0;  // entries the log has room for
    std::int64_t log_total = 0;     // entries ever written; entry i is at i mod log_capacity
    std::int64_t log_fill = 0;      // starts in the newest entry
    std::int64_t log_until_us = 0;  // the limits that need it are over then, as far as is known

    std::int64_t last_allow = 0;  // 0: none
    std::int64_t last_period_us = 0;
    std::int64_t last_burst = 0;

    std::optional<Slot> slot_for(const Rate&) const;  // the last slot in the rate's remainders, rounded up
    void take_slot(const Slot&, const Rate&, std::int64_t cost);
    std::optional<Rate> last_rate() const;
};

// What a key remembers in a fixed number of bytes, beside its logs of starts, its tickets and its leases.
// Times are microseconds on the key's own clock, which is the store's clock plus offset_us and never goes
// back. The bytes: the tag "jtk" and k_version, four zeros, then each field below in this order and the
// fields of the rows that are in use as little-endian 64-bit integers, then zeros up to k_bytes. doc/state.md
// describes them; decide.lua reads and writes the same.
struct Header {
    static constexpr char k_version = 2;
    static constexpr std::size_t k_fields = 27;
    static constexpr std::size_t k_rows = Terms::k_most_rates;
    static constexpr std::size_t k_bytes = 640;

    std::int64_t birth_us = 0;   // when this state began; a ticket's holder sees by it that a state was lost
    std::int64_t offset_us = 0;  // how far the store's clock has been seen to step back
    std::int64_t seen_us = 0;    // the last time seen
    std::int64_t last_start_us = 0;

    std::int64_t paused_until_us = 0;
    std::int64_t paused_by_hand = 0;
    std::int64_t paced_number = 0;  // tickets up to this number have waited for the end of a pause

    std::int64_t numbers = 0;  // tickets numbered so far
    std::int64_t in_line = 0;
    std::int64_t out = 0;
    std::int64_t away = 0;
    std::int64_t line_cost = 0;                    // of those in line, together
    std::int64_t wakes = 0;                        // bit n - 1: a ticket has the n-th wake-up
    std::int64_t next_deadline_us = k_forever_us;  // no ticket changes by itself before

    std::int64_t recent_total = 0;      // starts whose id was noted; the i-th is at i mod k_recent_starts
    std::int64_t starts_until_us = 0;   // the logs and slots matter until then
    std::int64_t tickets_until_us = 0;  // the last ticket is forgotten then

    std::int64_t leases = 0;                    // kept, those that ran out lately, too
    std::int64_t held = 0;                      // of those, the ones that are held
    std::int64_t places = 0;                    // of those, the ones that hold a place
    std::int64_t open = 0;                      // of those, the ones that count as long as they are under way
    std::int64_t next_lease_us = k_forever_us;  // no lease changes by itself before
    std::int64_t leases_until_us = 0;           // the last one is forgotten then
    std::int64_t last_concurrency = 0;          // of the last question, 0: none
    std::int64_t last_departure_us = 0;         // when a place became free
    std::int64_t departure_us = 0;              // the time from one to the next, a moving mean

    std::int64_t idle_until_us = 0;  // Redis only: the expiry that its records have been given

    std::array<LimitRow, k_rows> rows;

    // Rows in use: those after it are as new.
    std::size_t rows_in_use() const;
    // The terms that the last question was judged by; empty: pauses alone, or there was none.
    Terms last_terms() const;
    // Where a place is in use its concurrency stays known beside terms without one.
    void set_last_terms(const Terms&);
    // Until when the state says anything: after that the key is as good as new.
    std::int64_t matters_until_us() const;
};

constexpr std::int64_t k_recent_starts = 1024;

// The fields in the order of the bytes, those of unused rows, too.
std::array<std::int64_t, Header::k_fields + Header::k_rows * LimitRow::k_fields> fields_of(const Header&);

std::string encode(const Header&);
enum class HeaderProblem { none, foreign, newer };
// Nothing when the bytes are no header of this version; `problem`, where given, says why.
std::optional<Header> decode_header(std::string_view bytes, HeaderProblem* problem = nullptr);

// Times of starts take six bytes, modulo 2^48 microseconds (8.9 years), read against a later time.
constexpr std::size_t k_short_time_bytes = 6;
constexpr std::int64_t k_short_time_span = std::int64_t{1} << 48;
constexpr std::int64_t shorten(std::int64_t us) {
    return us & (k_short_time_span - 1);
}
constexpr std::int64_t lengthen(std::int64_t shortened, std::int64_t later_us) {
    return later_us - ((later_us - shortened) & (k_short_time_span - 1));
}

}  // namespace jobthrottle
