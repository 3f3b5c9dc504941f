// SPDX-License-Identifier: MIT
#include "paced.hpp"

#include <algorithm>
#include <string>

#include "support/catch.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t k_made_good = 2;

std::string in_words(const std::vector<BootTime>& times) {
    std::string text;
    for (const BootTime time : times)
        text += std::to_string((time - times.front()) / 1ms) + " ";
    return text;
}

}  // namespace

std::size_t most_within(std::vector<BootTime> times, Duration window) {
    std::sort(times.begin(), times.end());
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < times.size(); ++last) {
        while (times[last] - times[first] > window)
            ++first;
        most = std::max(most, last - first + 1);
    }
    return most;
}

void check_paced(const std::vector<BootTime>& times, int per_second, Duration standstill) {
    INFO("in ms since the first: " << in_words(times) << "with a standstill of " << standstill / 1ms);
    const Duration lateness = k_lateness + standstill;
    CHECK(most_within(times, std::max(Duration::zero(), 1s - lateness)) <=
          static_cast<std::size_t>(per_second));
    const Duration slot = Duration{1s} / per_second;
    for (std::int64_t slots = 1; slots <= static_cast<std::int64_t>(times.size()); ++slots) {
        const std::int64_t room = (slots * slot + lateness) / slot + 1 + k_made_good;
        INFO("in " << slots << " slots of " << slot.count() / 1000 << " ms");
        CHECK(most_within(times, slots * slot) <= static_cast<std::size_t>(room));
    }
}

}  // namespace jobthrottle::test
