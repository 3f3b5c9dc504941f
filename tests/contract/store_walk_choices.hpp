// SPDX-License-Identifier: MIT
// What a random history draws from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/desk.hpp"

namespace jobthrottle::test {

// The same throws for the same seed, on every machine.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : m_random(seed) {}

    std::uint64_t any() { return m_random(); }
    std::uint64_t below(std::uint64_t n) { return m_random() % n; }
    std::int64_t from_1_to(std::uint64_t n) { return static_cast<std::int64_t>(1 + below(n)); }
    bool chance(unsigned percent) { return below(100) < percent; }
    Duration up_to(Duration d) {
        return Duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(d.count()) + 1))};
    }
    template <typename T>
    const T& one_of(const std::vector<T>& all) {
        return all[below(all.size())];
    }

private:
    std::mt19937_64 m_random;
};

inline std::vector<Rate> quick_rates() {
    std::vector<Rate> all;
    for (const char* text : {"8/s", "1/s", "1/s", "7/s,burst=3", "20/s,burst=20", "10/90s", "60/min",
                             "60/min,burst=60", "3/1ms", "1000000/s", "5000/h", "90k/min", "10000/d",
                             "10k/d,burst=50", "2045/min,burst=9", "600/min,burst=2"})
        all.push_back(testing::rate(text));
    return all;
}

// T is 20 s or more, so that T / 4 is the come-back time on every store.
inline std::vector<Rate> slow_rates() {
    std::vector<Rate> all;
    for (const char* text :
         {"1/min", "3/min", "1/20s", "1/h", "2/366d", "90/h,burst=4", "10/h,burst=10", "1000/d,burst=50"})
        all.push_back(testing::rate(text));
    return all;
}

// Some of these rates, with a concurrency or without.
inline Terms some_terms(Dice& dice, const std::vector<Rate>& rates, bool with_rate) {
    std::vector<Rate> wanted;
    const std::uint64_t most = dice.chance(60) ? 1 : 1 + dice.below(4);
    const std::uint64_t count = with_rate || dice.chance(70) ? most : 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Rate& next = dice.one_of(rates);
        const bool there = std::any_of(wanted.begin(), wanted.end(),
                                       [&](const Rate& one) { return one.period() == next.period(); });
        if (!there) wanted.push_back(next);
    }
    std::optional<std::int64_t> at_once;
    if (wanted.empty() || dice.chance(40)) at_once = dice.from_1_to(4);
    return Terms::make(std::move(wanted), at_once).value();
}

}  // namespace jobthrottle::test
