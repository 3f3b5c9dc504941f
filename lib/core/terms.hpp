// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/rate.hpp"

namespace jobthrottle {

// What a key asks of those who start on it: up to four rates, and how many may run at once.
class Terms {
public:
    static constexpr std::size_t k_most_rates = 4;
    static constexpr std::int64_t k_most_at_once = 1'000'000;

    Terms() = default;
    // Error (usage): more than k_most_rates, two of one period, or a concurrency out of 1 .. k_most_at_once.
    static Result<Terms> make(std::vector<Rate> rates, std::optional<std::int64_t> concurrency = {});

    // The first paces the key, the others are windows; each with the burst that it has there.
    const std::vector<Rate>& rates() const { return m_rates; }
    const std::optional<std::int64_t>& concurrency() const { return m_concurrency; }
    bool empty() const { return m_rates.empty() && !m_concurrency; }

    // As given, to be sent or kept: in the order of rates().
    const std::vector<Rate>& given() const { return m_given; }

    std::string text() const;  // "8/s", "10/s and 500/min, 4 at once", "4 at once"; empty: ""

    friend bool operator==(const Terms& a, const Terms& b) {
        return a.m_rates == b.m_rates && a.m_concurrency == b.m_concurrency;
    }
    friend bool operator!=(const Terms& a, const Terms& b) { return !(a == b); }

private:
    std::vector<Rate> m_given;
    std::vector<Rate> m_rates;
    std::optional<std::int64_t> m_concurrency;
};

// What both allow: of one period, and of concurrency, the strictest; other periods stand beside each other.
// Error (usage): more than four then.
Result<Terms> strictest(const Terms& a, const Terms& b);

}  // namespace jobthrottle
