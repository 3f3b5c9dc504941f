// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "process/boot_alarm.hpp"
#include "process/signals.hpp"

namespace jobthrottle {

enum class WakeReason {
    due,            // the time has come
    woken,          // one of the descriptors is readable
    stop_signal,    // INT, TERM, HUP or QUIT: the run is to end
    status_wanted,  // USR1: say how things stand, then sleep on
};

struct Wake {
    WakeReason reason = WakeReason::due;
    int signal = 0;  // with stop_signal and status_wanted
};

// A wait that signals end.
class Sleeper {
public:
    Sleeper() = default;
    virtual ~Sleeper() = default;

    // Returns when `due` has come or a signal that matters has. A stop signal that came before, also one seen
    // by stop_signal(), ends it at once, and wins over a `due` that is past.
    // `wakes` are descriptors that end it when they become readable, or broken; signals win over them.
    virtual Wake sleep_until(BootTime due, const std::vector<int>& wakes) = 0;
    Wake sleep_until(BootTime due) { return sleep_until(due, {}); }
    virtual BootTime now() const = 0;
    // The first stop signal that has come up to now, in a sleep or outside one. Never blocks.
    virtual std::optional<int> stop_signal() const = 0;

protected:
    Sleeper(Sleeper&&) = default;
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    Sleeper& operator=(Sleeper&&) = delete;
};

// Sleeps by the time since boot, to well under a millisecond; a suspend counts. The inbox is borrowed and has
// to outlive it.
class SignalSleeper final : public Sleeper {
public:
    static Result<SignalSleeper> open(SignalInbox& inbox);

    using Sleeper::sleep_until;
    Wake sleep_until(BootTime due, const std::vector<int>& wakes) override;
    BootTime now() const override { return BootClock::now(); }
    std::optional<int> stop_signal() const override;

private:
    SignalSleeper(SignalInbox& inbox, BootAlarm alarm) : m_inbox(&inbox), m_alarm(std::move(alarm)) {}
    void read_signals() const;
    std::optional<Wake> wake_seen();

    SignalInbox* m_inbox;
    BootAlarm m_alarm;
    mutable std::optional<int> m_stop;
    mutable bool m_status_wanted = false;
};

}  // namespace jobthrottle
