// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle {

// The longest time that a limit, a wait or a pause may be given as.
constexpr Duration k_longest_duration = std::chrono::hours{24 * 366};

// "250ms", "2s", "1m30s", "2h", "1d", "90us", units as words ("sec", "minutes", "hours"), and a plain number
// of seconds ("30", "0.5"). Fractions are allowed in the last part, of six digits, and rounded up to a
// microsecond. Error
// (usage): anything else, and more than k_longest_duration. The message quotes the text and shows a right
// one; it does not name the option.
Result<Duration> parse_duration(std::string_view text);

// The length of one unit word (s, sec, seconds, min, h, d, ms, us ...). Zero: not a unit.
Duration unit_length(std::string_view word);

// For people, at most three significant parts: "0.4 s", "12.3 s", "1m30s", "27m45s", "2h03m", "3d04h".
// Rounded up so that a time is never promised too early.
std::string format_duration(Duration);

// Exactly, in the form that parse_duration takes: "1m30s", "750ms", "100us".
std::string format_duration_exactly(Duration);

}  // namespace jobthrottle
