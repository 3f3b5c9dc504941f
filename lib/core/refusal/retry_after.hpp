// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace jobthrottle {

// The delay that a Retry-After value asks for, seen at `now`; nothing where the value is ill-formed.
//
// A value is seconds ("30", "2.5"), several of them joined by ", " (the largest counts), a moment as seconds
// or milliseconds of the epoch (10-11 or 13-14 digits), an HTTP-date or an RFC 3339 time. Signs, units,
// exponents, quotes and anything before or after the value make it ill-formed. The delay is rounded up to
// whole milliseconds, is never negative (a moment in the past gives 0) and is not clamped: it can be as large
// as k_longest_delay, where larger numbers end.
std::optional<Duration> parse_retry_after(std::string_view value, WallTime now);

// The same for the other fields that carry a delay.
std::optional<Duration> parse_seconds(std::string_view value);       // "64.57"; no sign, no unit
std::optional<Duration> parse_milliseconds(std::string_view value);  // "1500", "1500.5"
// A rate-limit reset: epoch seconds or milliseconds by the number of digits, at most 86400 as seconds from
// now, an HTTP-date or ISO 8601. Nothing where the unit cannot be told.
std::optional<Duration> parse_reset(std::string_view value, WallTime now);

// 2^53 - 1 milliseconds, the largest whole number that every reader of JSON can hold.
inline constexpr Duration k_longest_delay = std::chrono::milliseconds{9'007'199'254'740'991};

// What a pause may be, whatever a provider asks. REQUIRES: least <= fallback.
struct PauseBounds {
    Duration least = std::chrono::seconds{1};
    Duration most = std::chrono::hours{24};  // --max-pause
    Duration fallback =
        std::chrono::seconds{60};  // --default-pause: where no delay, or none that can be read, is given

    // The pause for a delay that was asked, or for none. `most` wins over `least`.
    Duration pause_for(std::optional<Duration> asked) const;
};

}  // namespace jobthrottle
