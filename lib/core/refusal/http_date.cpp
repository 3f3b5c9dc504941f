// SPDX-License-Identifier: MIT
#include "core/refusal/http_date.hpp"

#include <array>
#include <chrono>
#include <tuple>

#include "core/refusal/cursor.hpp"

namespace jobthrottle {

namespace {

struct Date {
    int year = 0;
    int month = 0;  // 1-12
    int day = 0;
};

// Time of day and zone together: what is to be added to midnight UTC of the date.
using FromMidnight = Duration;

bool take_weekday(Cursor& in) {
    return in.take_one_of({"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}).has_value();
}

bool take_long_weekday(Cursor& in) {
    return in.take_one_of({"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})
        .has_value();
}

std::optional<int> take_month(Cursor& in) {
    const auto index =
        in.take_one_of({"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
    if (!index) return std::nullopt;
    return *index + 1;
}

std::optional<FromMidnight> clock_time(int hour, int minute, int second) {
    if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

std::optional<FromMidnight> take_hms(Cursor& in) {
    const auto hour = in.take_number(2, 2);
    if (!hour || !in.take(':')) return std::nullopt;
    const auto minute = in.take_number(2, 2);
    if (!minute || !in.take(':')) return std::nullopt;
    const auto second = in.take_number(2, 2);
    if (!second) return std::nullopt;
    return clock_time(*hour, *minute, *second);
}

std::optional<Duration> offset(bool east, int hours, int minutes) {
    if (hours > 23 || minutes > 59) return std::nullopt;
    const Duration size = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    return east ? size : -size;
}

// "[ SP zone ]" at the end of the text: how far east of UTC.
std::optional<Duration> take_last_zone(Cursor& in) {
    if (in.at_end()) return Duration{0};
    if (!in.take(' ')) return std::nullopt;
    if (in.take_one_of({"GMT", "UTC", "UT", "Z"})) {
        if (in.at_end()) return Duration{0};
        return std::nullopt;
    }
    const bool east = in.take('+');
    if (!east && !in.take('-')) return std::nullopt;
    const auto digits = in.take_number(4, 4);
    if (!digits || !in.at_end()) return std::nullopt;
    return offset(east, *digits / 100, *digits % 100);
}

std::optional<WallTime> instant(const Date& date, FromMidnight time) {
    const std::chrono::year_month_day day{std::chrono::year{date.year},
                                          std::chrono::month{static_cast<unsigned>(date.month)},
                                          std::chrono::day{static_cast<unsigned>(date.day)}};
    if (!day.ok()) return std::nullopt;
    return WallTime{std::chrono::sys_days{day}} + time;
}

// SP hms [ SP zone ], the tail of the first two forms.
std::optional<FromMidnight> take_time_and_zone(Cursor& in) {
    if (!in.take(' ')) return std::nullopt;
    const auto time = take_hms(in);
    if (!time) return std::nullopt;
    const auto east = take_last_zone(in);
    if (!east) return std::nullopt;
    return *time - *east;
}

std::optional<WallTime> parse_imf(Cursor in) {
    if (!take_weekday(in) || !in.take(", ")) return std::nullopt;
    const auto day = in.take_number(1, 2);
    if (!day || !in.take(' ')) return std::nullopt;
    const auto month = take_month(in);
    if (!month || !in.take(' ')) return std::nullopt;
    const auto year = in.take_number(4, 4);
    if (!year) return std::nullopt;
    const auto time = take_time_and_zone(in);
    if (!time) return std::nullopt;
    return instant({*year, *month, *day}, *time);
}

// The latest year with these two digits in which the moment is not more than 50 years after `now`.
int full_year(int two_digits, int month, int day, FromMidnight time, WallTime now) {
    const auto today = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date{today};
    const int last_year = static_cast<int>(date.year()) + 50;
    int year = last_year - last_year % 100 + two_digits;
    const auto latest =
        std::tuple(last_year, static_cast<int>(static_cast<unsigned>(date.month())),
                   static_cast<int>(static_cast<unsigned>(date.day())), Duration(now - today));
    while (std::tuple(year, month, day, time) > latest)
        year -= 100;
    return year;
}

std::optional<WallTime> parse_rfc850(Cursor in, WallTime now) {
    if ((!take_long_weekday(in) && !take_weekday(in)) || !in.take(", ")) return std::nullopt;
    const auto day = in.take_number(1, 2);
    if (!day || !in.take('-')) return std::nullopt;
    const auto month = take_month(in);
    if (!month || !in.take('-')) return std::nullopt;
    const auto two_digits = in.take_number(2, 2);
    if (!two_digits) return std::nullopt;
    const auto time = take_time_and_zone(in);
    if (!time) return std::nullopt;
    return instant({full_year(*two_digits, *month, *day, *time, now), *month, *day}, *time);
}

std::optional<WallTime> parse_asctime(Cursor in) {
    if (!take_weekday(in) || !in.take(' ')) return std::nullopt;
    const auto month = take_month(in);
    if (!month || !in.take(' ')) return std::nullopt;
    const bool padded = in.take(' ');
    const auto day = in.take_number(1, padded ? 1 : 2);
    if (!day || !in.take(' ')) return std::nullopt;
    const auto time = take_hms(in);
    if (!time || !in.take(' ')) return std::nullopt;
    const auto year = in.take_number(4, 4);
    if (!year || !in.at_end()) return std::nullopt;
    return instant({*year, *month, *day}, *time);
}

// ".123", rounded up to whole microseconds; nothing before the point is no fraction.
std::optional<Duration> take_fraction(Cursor& in) {
    if (!in.take('.')) return Duration{0};
    const std::string_view digits = in.take_digits();
    if (digits.empty()) return std::nullopt;
    std::int64_t us = 0;
    for (std::size_t i = 0; i < 6; ++i)
        us = us * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    const bool more = digits.size() > 6 && digits.find_first_not_of('0', 6) != std::string_view::npos;
    return Duration{us + (more ? 1 : 0)};
}

// What the shorter forms of ISO 8601 may leave out.
enum class Leniency { none, short_forms };

std::optional<Duration> take_iso_zone(Cursor& in, Leniency leniency) {
    const bool lenient = leniency == Leniency::short_forms;
    if (in.take_ignoring_case("Z")) return Duration{0};
    const bool east = in.take('+');
    if (!east && !in.take('-')) {
        if (lenient) return Duration{0};
        return std::nullopt;
    }
    if (lenient) {
        if (const auto digits = in.take_number(4, 4)) return offset(east, *digits / 100, *digits % 100);
    }
    const auto hours = in.take_number(2, 2);
    if (!hours || !in.take(':')) return std::nullopt;
    const auto minutes = in.take_number(2, 2);
    if (!minutes) return std::nullopt;
    return offset(east, *hours, *minutes);
}

std::optional<FromMidnight> take_iso_time(Cursor& in, Leniency leniency) {
    const auto hour = in.take_number(2, 2);
    if (!hour || !in.take(':')) return std::nullopt;
    const auto minute = in.take_number(2, 2);
    if (!minute) return std::nullopt;
    int second = 0;
    Duration fraction{0};
    if (in.take(':')) {
        const auto digits = in.take_number(2, 2);
        const auto part = digits ? take_fraction(in) : std::nullopt;
        if (!part) return std::nullopt;
        second = *digits;
        fraction = *part;
    } else if (leniency == Leniency::none) {
        return std::nullopt;
    }
    const auto time = clock_time(*hour, *minute, second);
    if (!time) return std::nullopt;
    return *time + fraction;
}

std::optional<WallTime> parse_iso(std::string_view text, Leniency leniency) {
    Cursor in(text);
    const auto year = in.take_number(4, 4);
    if (!year || !in.take('-')) return std::nullopt;
    const auto month = in.take_number(2, 2);
    if (!month || !in.take('-')) return std::nullopt;
    const auto day = in.take_number(2, 2);
    if (!day || !in.take_ignoring_case("T")) return std::nullopt;
    const auto time = take_iso_time(in, leniency);
    if (!time) return std::nullopt;
    const auto east = take_iso_zone(in, leniency);
    if (!east || !in.at_end()) return std::nullopt;
    return instant({*year, *month, *day}, *time - *east);
}

}  // namespace

std::optional<WallTime> parse_http_date(std::string_view text, WallTime now) {
    if (const auto time = parse_imf(Cursor(text))) return time;
    if (const auto time = parse_rfc850(Cursor(text), now)) return time;
    return parse_asctime(Cursor(text));
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
    return parse_iso(text, Leniency::none);
}

std::optional<WallTime> parse_iso8601(std::string_view text) {
    return parse_iso(text, Leniency::short_forms);
}

}  // namespace jobthrottle
