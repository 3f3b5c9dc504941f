// SPDX-License-Identifier: MIT
#include "core/duration.hpp"

#include <cstdio>
#include <optional>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_fraction_digits = 6;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

Error want(std::string_view text) {
    return usage_error("'" + escape_for_display(text.substr(0, 60)) +
                       "': want a duration up to 366d, for example 250ms, 30s, 1m30s, 2h");
}

// One "12.5h" at the start of `rest`, which it consumes. The unit may be missing only in the last part.
struct Part {
    Duration length{};
    bool fraction = false;
    Duration unit{};
};

std::optional<Part> take_part(std::string_view& rest) {
    std::size_t i = 0;
    while (i < rest.size() && is_digit(rest[i]))
        ++i;
    const auto whole = parse_whole_number(rest.substr(0, i));
    if (!whole) return std::nullopt;
    std::string_view fraction;
    if (i < rest.size() && rest[i] == '.') {
        const std::size_t from = ++i;
        while (i < rest.size() && is_digit(rest[i]))
            ++i;
        fraction = rest.substr(from, i - from);
        if (fraction.empty()) return std::nullopt;
    }
    const std::size_t unit_from = i;
    while (i < rest.size() && !is_digit(rest[i]) && rest[i] != '.')
        ++i;
    const std::string_view word = rest.substr(unit_from, i - unit_from);
    const Duration unit = word.empty() ? Duration{1s} : unit_length(word);
    if (unit == Duration::zero() || *whole > k_longest_duration / unit) return std::nullopt;
    rest.remove_prefix(i);
    // Six digits count, what follows rounds up: a day has no more microseconds than fit 64 bits then.
    const std::string_view counted = fraction.substr(0, k_fraction_digits);
    std::int64_t parts = counted.empty() ? 0 : *parse_whole_number(counted);
    std::int64_t scale = 1;
    for (std::size_t digit = 0; digit < counted.size(); ++digit)
        scale *= 10;
    if (fraction.find_first_not_of('0', counted.size()) != std::string_view::npos) ++parts;
    const std::int64_t rounded_up = (parts * unit.count() + scale - 1) / scale;
    return Part{*whole * unit + Duration{rounded_up}, !fraction.empty(), unit};
}

}  // namespace

Duration unit_length(std::string_view word) {
    struct Unit {
        std::string_view words;  // separated and closed by spaces
        Duration length;
    };
    static constexpr Unit k_units[] = {
        {" us usec usecs microsecond microseconds ", 1us},
        {" ms msec msecs millisecond milliseconds ", 1ms},
        {" s sec secs second seconds ", 1s},
        {" m min mins minute minutes ", 1min},
        {" h hr hrs hour hours ", 1h},
        {" d day days ", 24h},
        {" w week weeks ", 24h * 7},
    };
    if (word.empty() || word.find(' ') != std::string_view::npos) return Duration::zero();
    const std::string spaced = " " + std::string(word) + " ";
    for (const auto& unit : k_units) {
        if (unit.words.find(spaced) != std::string_view::npos) return unit.length;
    }
    return Duration::zero();
}

Result<Duration> parse_duration(std::string_view text) {
    std::string_view rest = text;
    Duration total{};
    Duration last_unit = Duration::max();
    bool closed = false;  // a fraction or a missing unit must be the last
    do {
        const std::string_view before = rest;
        const auto part = take_part(rest);
        if (!part || closed || part->unit >= last_unit) return want(text);
        const bool bare = is_digit(before[before.size() - rest.size() - 1]);
        if (bare && before.size() != text.size()) return want(text);  // "1m30" could be meant as anything
        closed = part->fraction || bare;
        last_unit = part->unit;
        total += part->length;
        if (total > k_longest_duration) return want(text);
    } while (!rest.empty());
    return total;
}

std::string format_duration(Duration d) {
    if (d <= Duration::zero()) return "0 s";
    char text[48];
    const auto tenths = (d.count() + 99'999) / 100'000;
    if (d < 1ms) {
        std::snprintf(text, sizeof text, "%lld us", static_cast<long long>(d.count()));
    } else if (d < 100ms) {
        std::snprintf(text, sizeof text, "%lld ms", static_cast<long long>((d.count() + 999) / 1000));
    } else if (tenths < 600) {
        const bool whole = tenths % 10 == 0;
        std::snprintf(text, sizeof text, whole ? "%lld s" : "%lld.%lld s",
                      static_cast<long long>(tenths / 10), static_cast<long long>(tenths % 10));
    } else {
        const long long seconds = (d.count() + 999'999) / 1'000'000;
        const long long minutes = (seconds + 59) / 60;
        const long long hours = (minutes + 59) / 60;
        if (seconds < 3600) {
            std::snprintf(text, sizeof text, "%lldm%02llds", seconds / 60, seconds % 60);
        } else if (minutes < 1440) {
            std::snprintf(text, sizeof text, "%lldh%02lldm", minutes / 60, minutes % 60);
        } else {
            std::snprintf(text, sizeof text, "%lldd%02lldh", hours / 24, hours % 24);
        }
    }
    return text;
}

std::string format_duration_exactly(Duration d) {
    struct Unit {
        Duration length;
        const char* name;
    };
    static constexpr Unit k_units[] = {{24h, "d"}, {1h, "h"},   {1min, "m"},
                                       {1s, "s"},  {1ms, "ms"}, {1us, "us"}};
    if (d <= Duration::zero()) return "0s";
    std::string out;
    for (const auto& unit : k_units) {
        const auto count = d / unit.length;
        if (count == 0) continue;
        out += std::to_string(count) + unit.name;
        d -= count * unit.length;
    }
    return out;
}

}  // namespace jobthrottle
