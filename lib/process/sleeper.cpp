// SPDX-License-Identifier: MIT
#include "process/sleeper.hpp"

#include <poll.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>

namespace jobthrottle {

Result<SignalSleeper> SignalSleeper::open(SignalInbox& inbox) {
    Fd timer{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
    if (!timer) return internal_error(std::string("cannot make a timer: ") + std::strerror(errno));
    return SignalSleeper{inbox, std::move(timer)};
}

void SignalSleeper::read_signals() const {
    while (const auto signal = m_inbox->next()) {
        if (is_stop_signal(*signal) && !m_stop) m_stop = *signal;
        if (*signal == SIGUSR1) m_status_wanted = true;
    }
}

std::optional<int> SignalSleeper::stop_signal() const {
    read_signals();
    return m_stop;
}

std::optional<Wake> SignalSleeper::wake_seen() {
    read_signals();
    if (m_stop) return Wake{WakeReason::stop_signal, *m_stop};
    if (!std::exchange(m_status_wanted, false)) return std::nullopt;
    return Wake{WakeReason::status_wanted, SIGUSR1};
}

Wake SignalSleeper::sleep_until(BootTime due) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(due.time_since_epoch());
    itimerspec alarm{};
    alarm.it_value.tv_sec = whole.count();
    alarm.it_value.tv_nsec = std::chrono::nanoseconds{due.time_since_epoch() - whole}.count();
    bool is_set = false;
    while (true) {
        if (const auto wake = wake_seen()) return *wake;
        if (now() >= due) return Wake{};
        if (!is_set) is_set = timerfd_settime(m_timer.get(), TFD_TIMER_ABSTIME, &alarm, nullptr) == 0;
        std::array<pollfd, 2> ready{pollfd{m_inbox->fd(), POLLIN, 0}, pollfd{m_timer.get(), POLLIN, 0}};
        poll(ready.data(), ready.size(), -1);
    }
}

}  // namespace jobthrottle
