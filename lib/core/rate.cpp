// SPDX-License-Identifier: MIT
#include "core/rate.hpp"

#include <limits>

#include "base/text.hpp"
#include "core/duration.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

std::string quoted(std::string_view text) {
    return "'" + escape_for_display(text.substr(0, 60)) + "'";
}

Error want_rate(std::string_view text) {
    return usage_error(quoted(text) + ": want N/PERIOD, for example 8/s, 500/min, 10/90s");
}

std::optional<std::int64_t> count_of(std::string_view text) {
    std::int64_t scale = 1;
    if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) scale = 1000;
    if (!text.empty() && text.back() == 'M') scale = 1'000'000;
    if (scale > 1) text.remove_suffix(1);
    const auto number = parse_whole_number(text);
    if (!number || *number > std::numeric_limits<std::int64_t>::max() / scale) return std::nullopt;
    return *number * scale;
}

// The word after the slash: a bare unit means one of it.
std::optional<Duration> period_of(std::string_view text) {
    if (const Duration unit = unit_length(text); unit != Duration::zero()) return unit;
    const auto duration = parse_duration(text);
    if (!duration) return std::nullopt;
    return *duration;
}

}  // namespace

Result<Rate> Rate::make(std::int64_t allow, Duration period, std::int64_t burst) {
    if (period < 1ms || period > k_longest_duration) {
        return usage_error("a period of " + format_duration_exactly(period) +
                           ": want 1ms to 366d, for example 8/s or 5000/h");
    }
    // 1,000,000 a second is one a microsecond.
    const std::int64_t most = period.count();
    if (allow < 1 || allow > most) {
        return usage_error(std::to_string(allow) + " starts in " + format_duration_exactly(period) +
                           ": want at least 1 and at most 1,000,000 a second, for example 8/s");
    }
    if (burst < 1 || burst > allow) {
        return usage_error("a burst of " + std::to_string(burst) + " for " + std::to_string(allow) +
                           " starts in " + format_duration_exactly(period) + ": want 1 to " +
                           std::to_string(allow) + ", for example 10000/d,burst=500");
    }
    return Rate(allow, period, burst, burst > 1 ? burst : allow);
}

std::optional<Rate> Rate::restore(std::int64_t allow, std::int64_t period_us, std::int64_t burst,
                                  std::int64_t window_burst) {
    const auto rate = make(allow, Duration{period_us}, burst);
    if (!rate || window_burst < 1 || window_burst > allow) return std::nullopt;
    return Rate(allow, Duration{period_us}, burst, window_burst);
}

Result<Rate> Rate::with_burst(std::int64_t burst) const {
    const auto rate = make(m_allow, m_period, burst);
    if (!rate) return rate.error();
    return Rate(m_allow, m_period, burst, burst);
}

std::string Rate::text() const {
    std::string period = format_duration_exactly(m_period);
    for (const char* unit : {"1s", "1m", "1h", "1d"}) {
        if (period == unit) period.erase(0, 1);
    }
    if (period == "m") period = "min";
    std::string out = std::to_string(m_allow) + "/" + period;
    if (m_burst != 1) out += ",burst=" + std::to_string(m_burst);
    return out;
}

Rate strictest(const Rate& a, const Rate& b) {
    const std::int64_t allow = std::min(a.allow(), b.allow());
    return Rate(allow, a.period(), std::min({a.burst(), b.burst(), allow}),
                std::min({a.window_burst(), b.window_burst(), allow}));
}

bool paces_before(const Rate& a, const Rate& b) {
    if (a.spacing_us() != b.spacing_us()) return a.spacing_us() < b.spacing_us();
    // In doubles as decide.lua compares them: the products may not fit an integer.
    const auto part = [](const Rate& rate) {
        return static_cast<double>(rate.spacing_rest()) / static_cast<double>(rate.allow());
    };
    if (part(a) != part(b)) return part(a) < part(b);
    return a.period() < b.period();
}

Result<Rate> parse_rate(std::string_view text) {
    std::string_view rest = text;
    std::optional<std::int64_t> burst;
    if (const auto comma = rest.find(','); comma != std::string_view::npos) {
        constexpr std::string_view k_burst = "burst=";
        const std::string_view tail = rest.substr(comma + 1);
        if (tail.substr(0, k_burst.size()) != k_burst) return want_rate(text);
        const auto number = count_of(tail.substr(k_burst.size()));
        if (!number) return want_rate(text);
        burst = *number;
        rest = rest.substr(0, comma);
    }
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) return want_rate(text);
    const auto allow = count_of(rest.substr(0, slash));
    const auto period = period_of(rest.substr(slash + 1));
    if (!allow || !period) return want_rate(text);
    auto rate = Rate::make(*allow, *period);
    if (rate && burst) rate = rate->with_burst(*burst);
    if (!rate) return usage_error(quoted(text) + ": " + rate.error().message);
    return *rate;
}

Result<std::int64_t> parse_count(std::string_view text) {
    const auto count = count_of(text);
    if (!count || *count < 1)
        return usage_error(quoted(text) + ": want a whole number of at least 1, for example 80 or 90k");
    return *count;
}

}  // namespace jobthrottle
