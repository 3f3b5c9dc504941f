// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/rate.hpp"
#include "core/slots.hpp"

namespace jobthrottle {

// What a key remembers in a fixed number of bytes, beside its log of starts and its tickets. Times are
// microseconds on the key's own clock, which is the store's clock plus offset_us and never goes back.
// The bytes: the tag "jtk" and k_version, then each field below in this order as a little-endian 64-bit
// integer, then zeros up to k_bytes. doc/state.md describes them; decide.lua reads and writes the same.
struct Header {
    static constexpr char k_version = 1;
    static constexpr std::size_t k_fields = 27;
    static constexpr std::size_t k_bytes = 8 + 8 * 31;

    std::int64_t birth_us = 0;   // when this state began; a ticket's holder sees by it that a state was lost
    std::int64_t offset_us = 0;  // how far the store's clock has been seen to step back
    std::int64_t seen_us = 0;    // the last time seen

    std::int64_t slot_us = 0;     // the last slot taken,
    std::int64_t slot_rest = 0;   // its remainder in slot_allow-ths of a microsecond,
    std::int64_t slot_allow = 0;  // (0: no slot was taken yet)
    std::int64_t slot_cost = 0;   // and how many slots wide the start was

    std::int64_t log_group = 1;     // so many starts share one entry of the log, the time of the last of them
    std::int64_t log_capacity = 0;  // entries the log has room for
    std::int64_t log_total = 0;     // entries ever written; entry i is at i mod log_capacity
    std::int64_t log_fill = 0;      // starts in the newest entry
    std::int64_t last_start_us = 0;

    std::int64_t paused_until_us = 0;
    std::int64_t paused_by_hand = 0;

    std::int64_t numbers = 0;  // tickets numbered so far
    std::int64_t in_line = 0;
    std::int64_t out = 0;
    std::int64_t away = 0;
    std::int64_t next_deadline_us = k_forever_us;  // no ticket changes by itself before

    std::int64_t recent_total = 0;      // starts whose id was noted; the i-th is at i mod k_recent_starts
    std::int64_t starts_until_us = 0;   // the log and slots matter until then
    std::int64_t tickets_until_us = 0;  // the last ticket is forgotten then

    std::int64_t last_allow = 0;  // the numbers of the last question, 0: none
    std::int64_t last_period_us = 0;
    std::int64_t last_burst = 0;

    std::int64_t idle_until_us = 0;  // Redis only: the expiry that its records have been given
    std::int64_t reserved = 0;

    std::optional<Slot> slot_for(const Rate&) const;  // the last slot in the rate's remainders, rounded up
    void take_slot(const Slot&, const Rate&, std::int64_t cost);
    std::optional<Rate> last_rate() const;
    void set_last_rate(const std::optional<Rate>&);
    // Until when the state says anything: after that the key is as good as new.
    std::int64_t matters_until_us() const;
};

constexpr std::int64_t k_recent_starts = 1024;

// The fields in the order of the bytes.
std::array<std::int64_t, Header::k_fields> fields_of(const Header&);

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
