// SPDX-License-Identifier: MIT
#include "core/when.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/text.hpp"
#include "core/duration.hpp"
#include "core/refusal/http_date.hpp"

namespace jobthrottle {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// The last second that four digits of a year can show.
constexpr std::int64_t k_last_second = 253'402'300'799;

// A reading of a calendar and a clock, as if it were UTC.
using Reading = WallTime;

std::optional<WallTime> moment_of(Reading local, const ZoneOffset& offset) {
    // The two offsets around a change of the clocks both have a say; where both fit, the earlier moment is
    // the first of the two.
    std::optional<WallTime> found;
    for (const hours around : {hours{-24}, hours{24}}) {
        const WallTime candidate = local - seconds{offset(local + around)};
        if (candidate + seconds{offset(candidate)} != local) continue;
        if (!found || candidate < *found) found = candidate;
    }
    return found;
}

// The clocks skip it: the moment at which they are put forward, which is the first with the later offset.
WallTime end_of_gap(Reading local, const ZoneOffset& offset) {
    WallTime before = std::chrono::floor<seconds>(local - hours{48});
    WallTime after = before + hours{96};
    const int earlier = offset(before);
    while (after - before > seconds{1}) {
        const WallTime middle = std::chrono::floor<seconds>(before + (after - before) / 2);
        (offset(middle) == earlier ? before : after) = middle;
    }
    return after;
}

WallTime local_to_wall(Reading local, const ZoneOffset& offset) {
    if (const auto moment = moment_of(local, offset)) return *moment;
    return end_of_gap(local, offset);
}

std::optional<int> take_two_digits(std::string_view text, std::size_t at, int most) {
    if (text.size() < at + 2) return std::nullopt;
    const auto number = parse_whole_number(text.substr(at, 2));
    if (!number || *number > most) return std::nullopt;
    return static_cast<int>(*number);
}

// "14:30" and "14:30:15".
std::optional<Duration> time_of_day(std::string_view text) {
    if ((text.size() != 5 && text.size() != 8) || text[2] != ':') return std::nullopt;
    const auto hour = take_two_digits(text, 0, 23);
    const auto minute = take_two_digits(text, 3, 59);
    std::optional<int> second = 0;
    if (text.size() == 8) second = text[5] == ':' ? take_two_digits(text, 6, 59) : std::nullopt;
    if (!hour || !minute || !second) return std::nullopt;
    return hours{*hour} + minutes{*minute} + seconds{*second};
}

WallTime next_time_of_day(Duration of_day, WallTime now, const ZoneOffset& offset) {
    const Reading here = now + seconds{offset(now)};
    const auto midnight = std::chrono::floor<std::chrono::days>(here);
    const WallTime today = local_to_wall(midnight + of_day, offset);
    if (today > now) return today;
    return local_to_wall(midnight + std::chrono::days{1} + of_day, offset);
}

// "@1796049000", "@1796049000.5"
std::optional<WallTime> epoch_time(std::string_view text) {
    if (text.empty() || text.front() != '@') return std::nullopt;
    text.remove_prefix(1);
    std::string_view fraction;
    if (const auto point = text.find('.'); point != std::string_view::npos) {
        fraction = text.substr(point + 1);
        text = text.substr(0, point);
        if (fraction.empty() || fraction.size() > 6) return std::nullopt;
    }
    const auto whole = parse_whole_number(text);
    const auto parts = fraction.empty() ? std::optional<std::int64_t>{0} : parse_whole_number(fraction);
    if (!whole || !parts || *whole > k_last_second) return std::nullopt;
    std::int64_t microseconds = *parts;
    for (std::size_t digit = fraction.size(); digit < 6; ++digit)
        microseconds *= 10;
    return WallTime{seconds{*whole} + Duration{microseconds}};
}

// RFC 3339 and what is often left out of it. The zone stands after the time of day.
std::optional<WallTime> calendar_time(std::string_view text, const ZoneOffset& offset) {
    constexpr std::size_t k_date = 10;
    if (text.size() <= k_date || text[4] != '-') return std::nullopt;
    std::string joined(text);
    if (joined[k_date] == ' ') joined[k_date] = 'T';
    const auto space = joined.find(' ');
    if (space != std::string::npos) joined.erase(space, 1);  // "14:30 +01:00", as format_when writes it
    const auto moment = parse_iso8601(joined);
    if (!moment) return std::nullopt;
    const bool has_zone = joined.find_first_of("Zz+-", k_date + 1) != std::string::npos;
    return has_zone ? *moment : local_to_wall(*moment, offset);
}

}  // namespace

Result<WallTime> parse_when(std::string_view text, WallTime now, const ZoneOffset& offset) {
    if (const auto moment = epoch_time(text)) return *moment;
    if (const auto of_day = time_of_day(text)) return next_time_of_day(*of_day, now, offset);
    if (const auto moment = calendar_time(text, offset)) return *moment;
    if (const auto moment = parse_http_date(text, now)) return *moment;
    if (const auto wait = parse_duration(text)) return now + *wait;
    return usage_error("'" + escape_for_display(text.substr(0, 60)) +
                       "': want a time, for example 14:30, 2026-11-30T14:30:00+01:00, @1796049000 or 10m");
}

std::string format_when(WallTime when, const ZoneOffset& offset) {
    const auto whole = std::chrono::ceil<seconds>(when);
    const int east = offset(whole);
    const auto local = whole + seconds{east};
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{local - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d %c%02d:%02d",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                  east < 0 ? '-' : '+', std::abs(east) / 3600, std::abs(east) / 60 % 60);
    return text;
}

}  // namespace jobthrottle
