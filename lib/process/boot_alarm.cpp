// SPDX-License-Identifier: MIT
#include "process/boot_alarm.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

namespace jobthrottle {

Result<BootAlarm> BootAlarm::make() {
    Fd timer{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
    if (!timer) return internal_error(std::string("cannot make a timer: ") + std::strerror(errno));
    return BootAlarm{std::move(timer)};
}

bool BootAlarm::set(BootTime due) {
    // A time of zero would take the alarm off.
    const Duration since_boot = std::max(due.time_since_epoch(), Duration{1});
    const auto whole = std::chrono::floor<std::chrono::seconds>(since_boot);
    itimerspec alarm{};
    alarm.it_value.tv_sec = whole.count();
    alarm.it_value.tv_nsec = std::chrono::nanoseconds{since_boot - whole}.count();
    return timerfd_settime(m_timer.get(), TFD_TIMER_ABSTIME, &alarm, nullptr) == 0;
}

}  // namespace jobthrottle
