// SPDX-License-Identifier: MIT
#include "base/time.hpp"

#include <ctime>

namespace jobthrottle {

namespace {

Duration read_clock(clockid_t id) noexcept {
    timespec now{};
    clock_gettime(id, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::microseconds{now.tv_nsec / 1000};
}

}  // namespace

BootTime BootClock::now() noexcept {
    return BootTime{read_clock(CLOCK_BOOTTIME)};
}
WallTime wall_now() noexcept {
    return WallTime{read_clock(CLOCK_REALTIME)};
}

}  // namespace jobthrottle
