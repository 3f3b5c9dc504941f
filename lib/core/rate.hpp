// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle {

// "allow" starts in any window of "period", one every period / allow; an idle key lets "burst" start at once.
// A rate that exists is valid: period 1 ms to 366 d, allow at least 1 and at most 1,000,000 a second, burst 1
// to allow.
//
// One of several limits that does not pace is a plain window unless it was given a burst, so a rate keeps
// what its burst is then, too.
class Rate {
public:
    // A burst of 1 counts as not given: with_burst(1) gives one.
    static Result<Rate> make(std::int64_t allow, Duration period, std::int64_t burst = 1);
    // As they are kept in a store. Nothing where they are no rate.
    static std::optional<Rate> restore(std::int64_t allow, std::int64_t period_us, std::int64_t burst,
                                       std::int64_t window_burst);

    std::int64_t allow() const { return m_allow; }
    Duration period() const { return m_period; }
    std::int64_t burst() const { return m_burst; }
    std::int64_t window_burst() const { return m_window_burst; }  // where another limit paces

    // What one start may cost at the most: above it could never begin.
    std::int64_t most_at_once() const { return m_burst > 1 ? m_burst : m_allow; }

    // Whole microseconds between two slots, and what is over in allow-ths of a microsecond.
    std::int64_t spacing_us() const { return m_period.count() / m_allow; }
    std::int64_t spacing_rest() const { return m_period.count() % m_allow; }
    // How far ahead a start may be granted, its runner sleeping that long itself.
    Duration grant() const { return std::min<Duration>(m_period, std::chrono::milliseconds{100}); }

    Result<Rate> with_burst(std::int64_t burst) const;
    Rate as_window() const { return {m_allow, m_period, m_allow, m_allow}; }  // burst = allow
    Rate beside_pace() const { return {m_allow, m_period, m_window_burst, m_window_burst}; }
    std::string text() const;  // "8/s", "10/1m30s", "10000/d,burst=500": parse_rate reads it back

    friend bool operator==(const Rate& a, const Rate& b) {
        return a.m_allow == b.m_allow && a.m_period == b.m_period && a.m_burst == b.m_burst;
    }
    friend bool operator!=(const Rate& a, const Rate& b) { return !(a == b); }

private:
    friend Rate strictest(const Rate& a, const Rate& b);
    Rate(std::int64_t allow, Duration period, std::int64_t burst, std::int64_t window_burst)
        : m_allow(allow), m_period(period), m_burst(burst), m_window_burst(window_burst) {}
    std::int64_t m_allow;
    Duration m_period;
    std::int64_t m_burst;
    std::int64_t m_window_burst;
};

// The stricter of two rates of the same period.
Rate strictest(const Rate& a, const Rate& b);

// Whether a's slots are closer together than b's: the one with the shortest spacing paces a key. Of equals
// the one with the shorter period.
bool paces_before(const Rate& a, const Rate& b);

// "N/PERIOD": 8/s, 60/min, 5000/h, 10/90s, 1/500ms, 90k/min, 2M/d, with ",burst=B" at the end if wanted.
// Error (usage): anything else; quotes the text, names no option.
Result<Rate> parse_rate(std::string_view text);

// A count as --allow and -j take it: 80, 90k, 2M; at least 1.
Result<std::int64_t> parse_count(std::string_view text);

}  // namespace jobthrottle
