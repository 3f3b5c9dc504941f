// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clocked_key.hpp"
#include "core/terms.hpp"

namespace jobthrottle {

// A key without a rate lets everybody through, but after a pause those who waited follow at this pace.
const Rate& pause_only_pace();

// Where an asker stands in the line of a key at one moment.
struct Standing {
    std::int64_t number = 0;      // of its ticket, or of the one it would get
    std::int64_t others = 0;      // tickets in line besides its own
    std::int64_t rank = 0;        // of those, with a smaller number; an estimate from k_ranked on
    std::int64_t cost = 1;        // what its start counts as
    std::int64_t cost_ahead = 0;  // of those with a smaller number; an estimate from k_ranked on
    // What each of the first k_room_kept_for ahead counts as; empty: 1 each.
    std::vector<std::int64_t> costs_ahead;
};
constexpr std::int64_t k_ranked = 64;         // only so many at the head of the line can start
constexpr std::int64_t k_room_kept_for = 16;  // of those ahead, so many have room kept for them

Standing standing_of(ClockedKey&, const std::optional<Ticket>& own, std::int64_t cost);

// One question judged: whether it may start, and if not, when that may change. All times are the key's.
struct Judgement {
    bool starts = false;
    std::int64_t grant_us = 0;                    // how far ahead
    std::array<Slot, Terms::k_most_rates> slots;  // that a start takes, one for each rate
    std::int64_t start_at_us = 0;                 // when it starts, within the grant of now
    std::int64_t possible_us = 0;                 // when it can start as things stand, leases aside
    std::int64_t ask_again_us = 0;  // when to ask again, without come-back checks; later than now
    // Leases hold it up, or those ahead of it: nobody knows until when.
    bool waits_for_lease = false;
    std::int64_t rates_us = 0;  // and when to ask again by the rates alone; it may be over
};
// `terms` without rates: pauses and leases alone.
Judgement judge(ClockedKey&, const Standing&, const Terms& terms, bool count_successes);

// How far ahead a start may be granted.
std::int64_t grant_us(const Terms&);

}  // namespace jobthrottle
