// SPDX-License-Identifier: MIT
#include "process/sleeper.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace jobthrottle {

Result<SignalSleeper> SignalSleeper::open(SignalInbox& inbox) {
    auto alarm = BootAlarm::make();
    if (!alarm) return alarm.error();
    return SignalSleeper{inbox, std::move(alarm).value()};
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

Wake SignalSleeper::sleep_until(BootTime due, const std::vector<int>& wakes) {
    std::vector<pollfd> ready{{m_inbox->fd(), POLLIN, 0}, {m_alarm.fd(), POLLIN, 0}};
    for (const int fd : wakes)
        ready.push_back({fd, POLLIN, 0});
    bool is_set = false;
    bool woken = false;
    while (true) {
        if (const auto wake = wake_seen()) return *wake;
        if (woken) return Wake{WakeReason::woken, 0};
        if (now() >= due) return Wake{};
        if (!is_set) is_set = m_alarm.set(due);
        if (poll(ready.data(), ready.size(), -1) <= 0) continue;
        woken = std::any_of(ready.begin() + 2, ready.end(), [](const pollfd& p) { return p.revents != 0; });
    }
}

}  // namespace jobthrottle
