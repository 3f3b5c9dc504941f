// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace jobthrottle {

// All durations are whole microseconds; raw integers appear only on the wire and are then named `_us`.
using Duration = std::chrono::microseconds;

// The clock of a store, as a key sees it: it never steps back. Its zero is the store's own affair (the epoch
// in Redis, boot on the local store), so its instants mean nothing outside the store and never leave it.
struct StoreClock {
    using rep = std::int64_t;
    using period = std::micro;
    using duration = Duration;
    using time_point = std::chrono::time_point<StoreClock, Duration>;
    static constexpr bool is_steady = true;
};
using Instant = StoreClock::time_point;

constexpr Instant instant_us(std::int64_t us) {
    return Instant{Duration{us}};
}
constexpr std::int64_t to_us(Instant t) {
    return t.time_since_epoch().count();
}

// Time since boot, suspend included. What this process sleeps and measures by.
struct BootClock {
    using rep = std::int64_t;
    using period = std::micro;
    using duration = Duration;
    using time_point = std::chrono::time_point<BootClock, Duration>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};
using BootTime = BootClock::time_point;

// Wall time, for what is shown to people and for dates that providers send.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;
WallTime wall_now() noexcept;

}  // namespace jobthrottle
