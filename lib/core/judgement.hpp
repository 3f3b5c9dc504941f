// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/clocked_key.hpp"
#include "core/rate.hpp"

namespace jobthrottle {

// A key with pauses alone lets everybody through, but after a pause those who waited follow at this pace.
const Rate& pause_only_pace();

// Where an asker stands in the line of a key at one moment.
struct Standing {
    std::int64_t number = 0;  // of its ticket, or of the one it would get
    std::int64_t others = 0;  // tickets in line besides its own
    std::int64_t rank = 0;    // of those, with a smaller number; an estimate from k_ranked on
};
constexpr std::int64_t k_ranked = 64;  // only so many at the head of the line can start

Standing standing_of(ClockedKey&, const std::optional<Ticket>& own);

// One question judged: whether it may start, and if not, when that may change. All times are the key's.
struct Judgement {
    bool starts = false;
    Slot slot;                      // the slot a start takes
    std::int64_t start_at_us = 0;   // when it starts, within the grant of now
    std::int64_t possible_us = 0;   // when it can start as things stand
    std::int64_t ask_again_us = 0;  // when to ask again, without come-back checks; later than now
};
// `rate` none: pauses alone.
Judgement judge(ClockedKey&, const Standing&, const std::optional<Rate>& rate);

}  // namespace jobthrottle
