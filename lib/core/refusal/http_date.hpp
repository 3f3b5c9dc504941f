// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace jobthrottle {

// Dates as servers send them. All are read by hand and mean UTC unless they carry a zone, whatever TZ and the
// locale say. The whole text must be the date. The day must exist in the calendar; the name of the weekday
// must be one, and is not compared with the date. Second 60 is the first of the next minute.

// The three forms of RFC 9110: "Mon, 30 Nov 2026 12:00:00 GMT", "Monday, 30-Nov-26 12:00:00 GMT" and
// "Mon Nov 30 12:00:00 2026". Letter case is free; the zone of the first two may be GMT, UTC, UT, Z or +hhmm
// and may be absent. A year of two digits is the latest that is not more than 50 years after `now`.
std::optional<WallTime> parse_http_date(std::string_view text, WallTime now);

// RFC 3339: "2026-11-30T12:00:00Z", with a fraction of the second and an offset where there are any.
std::optional<WallTime> parse_rfc3339(std::string_view text);

// The same with what some providers leave out: the seconds, the zone (then UTC), the colon in the offset.
std::optional<WallTime> parse_iso8601(std::string_view text);

}  // namespace jobthrottle
