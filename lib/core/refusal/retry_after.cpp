// SPDX-License-Identifier: MIT
#include "core/refusal/retry_after.hpp"

#include <algorithm>
#include <cstdint>

#include "core/refusal/cursor.hpp"
#include "core/refusal/http_date.hpp"

namespace jobthrottle {

namespace {

constexpr std::int64_t k_most_whole = k_longest_delay / std::chrono::milliseconds{1};

// 1*DIGIT [ "." 1*DIGIT ]
struct Decimal {
    std::int64_t whole = 0;       // ends at k_most_whole
    std::int64_t millionths = 0;  // of the fraction, rounded up, at most a million
    std::size_t digits = 0;       // of the whole part, leading zeros aside
};

std::int64_t millionths_of(std::string_view fraction) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 6; ++i)
        value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
    const bool more = fraction.size() > 6 && fraction.find_first_not_of('0', 6) != std::string_view::npos;
    return value + (more ? 1 : 0);
}

std::int64_t whole_of(std::string_view digits) {
    std::int64_t value = 0;
    for (const char c : digits) {
        value = value * 10 + (c - '0');
        if (value >= k_most_whole) return k_most_whole;
    }
    return value;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
    Cursor in(text);
    std::string_view digits = in.take_digits();
    if (digits.empty()) return std::nullopt;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    Decimal number;
    number.digits = digits.size();
    number.whole = whole_of(digits);
    if (in.take('.')) {
        const std::string_view fraction = in.take_digits();
        if (fraction.empty()) return std::nullopt;
        number.millionths = millionths_of(fraction);
    }
    if (!in.at_end()) return std::nullopt;
    return number;
}

Duration up_to_whole_ms(Duration d) {
    return std::chrono::ceil<std::chrono::milliseconds>(d);
}

Duration seconds_of(const Decimal& number) {
    if (number.whole >= k_most_whole / 1000) return k_longest_delay;
    return up_to_whole_ms(std::chrono::seconds{number.whole} + Duration{number.millionths});
}

Duration until(WallTime then, WallTime now) {
    return then <= now ? Duration{0} : up_to_whole_ms(then - now);
}

// A number of 10-11 or 13-14 digits is a moment: as seconds it would be a delay of decades.
std::optional<WallTime> epoch_of(const Decimal& number) {
    if (number.digits == 10 || number.digits == 11) {
        return WallTime{std::chrono::seconds{number.whole} + Duration{number.millionths}};
    }
    if (number.digits == 13 || number.digits == 14) {
        return WallTime{std::chrono::milliseconds{number.whole} + Duration{(number.millionths + 999) / 1000}};
    }
    return std::nullopt;
}

Duration delay_of(const Decimal& number, WallTime now) {
    if (const auto then = epoch_of(number)) return until(*then, now);
    return seconds_of(number);
}

// Field lines that a proxy joined: 1*DIGIT 1*( "," 1*SP 1*DIGIT ).
std::optional<Duration> parse_list(std::string_view text, WallTime now) {
    Cursor in(text);
    Duration longest{0};
    while (true) {
        const std::string_view digits = in.take_digits();
        const auto number = parse_decimal(digits);
        if (!number) return std::nullopt;
        longest = std::max(longest, delay_of(*number, now));
        if (in.at_end()) return longest;
        if (!in.take(", ")) return std::nullopt;
        while (in.take(' ')) {
        }
    }
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view value, WallTime now) {
    if (const auto number = parse_decimal(value)) return delay_of(*number, now);
    if (const auto list = parse_list(value, now)) return list;
    if (const auto then = parse_http_date(value, now)) return until(*then, now);
    if (const auto then = parse_rfc3339(value)) return until(*then, now);
    return std::nullopt;
}

std::optional<Duration> parse_seconds(std::string_view value) {
    const auto number = parse_decimal(value);
    if (!number) return std::nullopt;
    return seconds_of(*number);
}

std::optional<Duration> parse_milliseconds(std::string_view value) {
    const auto number = parse_decimal(value);
    if (!number) return std::nullopt;
    if (number->whole >= k_most_whole) return k_longest_delay;
    return up_to_whole_ms(std::chrono::milliseconds{number->whole} +
                          Duration{(number->millionths + 999) / 1000});
}

std::optional<Duration> parse_reset(std::string_view value, WallTime now) {
    if (const auto number = parse_decimal(value)) {
        if (const auto then = epoch_of(*number)) return until(*then, now);
        const Duration delay = seconds_of(*number);
        // More than a day is as likely to be milliseconds from now, which would be a thousand times less.
        if (delay > std::chrono::seconds{86'400}) return std::nullopt;
        return delay;
    }
    if (const auto then = parse_http_date(value, now)) return until(*then, now);
    if (const auto then = parse_iso8601(value)) return until(*then, now);
    return std::nullopt;
}

Duration PauseBounds::pause_for(std::optional<Duration> asked) const {
    return std::min(std::max(asked.value_or(fallback), least), most);
}

}  // namespace jobthrottle
