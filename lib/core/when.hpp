// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle {

// How many seconds the local time is ahead of UTC at that moment, east positive.
using ZoneOffset = std::function<int(WallTime)>;

// The moment that --until and the like name: RFC 3339 ("2026-11-30T14:30:00+01:00"; without the zone, the
// seconds or with a space for the T also), "@1796049000", "14:30" or "14:30:15" (the next one), an HTTP-date,
// or a duration from `now` ("10m"). What has no zone is local, but for an HTTP-date, which is UTC. A local
// time that the clocks skip means the moment they are put forward; one that they show twice is the first.
// Error (usage): anything else; quotes the text and shows a right one, names no option.
Result<WallTime> parse_when(std::string_view text, WallTime now, const ZoneOffset& offset);

// "2026-11-30 14:30:00 +01:00"; rounded up to a second, so that an end is never named too early.
std::string format_when(WallTime, const ZoneOffset& offset);

}  // namespace jobthrottle
