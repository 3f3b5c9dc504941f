// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"

// Wall times as people read them. The time and the zone are the caller's: nothing here asks a clock.
namespace jobthrottle {

// When something is said, and in which zone.
struct LocalTime {
    WallTime wall{};
    int utc_offset_s = 0;  // east of Greenwich is positive
};

// "14:31:07".
std::string clock_text(WallTime, int utc_offset_s);

// As short as is clear at `now`: "14:31:07" on the same day, "12 Nov 14:31" within half a year, else
// "12 Nov 2026". Rounded up to a second, so that an end is never named too early.
std::string moment_text(WallTime, const LocalTime& now);

WallTime wall_time_s(std::int64_t seconds_since_epoch);

// A pause without end lasts longer than any wait that the decision tells otherwise (core/slots.hpp).
bool is_for_ever(Duration);

}  // namespace jobthrottle
