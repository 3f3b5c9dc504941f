// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle {

// A descriptor that becomes readable at a time since boot; a suspend counts.
class BootAlarm {
public:
    static Result<BootAlarm> make();

    int fd() const { return m_timer.get(); }  // borrowed
    // From now on it is readable when `due` has come, and not before. False where the kernel took no alarm.
    bool set(BootTime due);

private:
    explicit BootAlarm(Fd timer) : m_timer(std::move(timer)) {}
    Fd m_timer;
};

}  // namespace jobthrottle
