// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/rate.hpp"

// Exact arithmetic of evenly spaced slots (generic cell rate algorithm, ITU-T I.371, in its virtual
// scheduling form, with whole microseconds and a remainder instead of fractions). decide.lua computes the
// same, in doubles: every value here stays below 2^53.
namespace jobthrottle {

// The moment time_us + rest / allow, in microseconds; 0 <= rest < allow.
struct Slot {
    std::int64_t time_us = 0;
    std::int64_t rest = 0;

    std::int64_t rounded_up_us() const { return time_us + (rest > 0 ? 1 : 0); }
    friend bool operator<(const Slot& a, const Slot& b) {
        return a.time_us != b.time_us ? a.time_us < b.time_us : a.rest < b.rest;
    }
    friend bool operator==(const Slot& a, const Slot& b) {
        return a.time_us == b.time_us && a.rest == b.rest;
    }
};

// A pause `forever` ends at k_forever_us; no other time of a key reaches k_far_us.
constexpr std::int64_t k_far_us = std::int64_t{1} << 51;
constexpr std::int64_t k_forever_us = std::int64_t{1} << 52;

// The count-th slot after `from`, at most k_forever_us. Exact for count up to k_exact_slots, and beyond that
// as long as the numbers fit a double; where they do not the spacing is rounded up to whole microseconds.
constexpr std::int64_t k_exact_slots = 256;
Slot slot_after(const Slot& from, std::int64_t count, const Rate&);

// The slot `count` slots before now: where a key may begin whose slots are late. Exact up to k_exact_slots,
// then rounded to a whole microsecond.
Slot slot_before(std::int64_t now_us, std::int64_t count, const Rate&);

// `from` moved back by `count` slots, exact where slot_after() is and else rounded up.
Slot slot_moved_back(const Slot& from, std::int64_t count, const Rate&);

}  // namespace jobthrottle
