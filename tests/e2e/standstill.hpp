// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/time.hpp"

namespace jobthrottle::test {

// Watches from a thread of its own for moments in which this machine ran nothing of ours: a virtual machine
// that was stopped by its host, a group out of its share of the processor. What such a moment takes is not
// the program's doing, and the tests that measure times allow for it.
class StandstillWatch {
public:
    StandstillWatch();
    StandstillWatch(const StandstillWatch&) = delete;
    StandstillWatch& operator=(const StandstillWatch&) = delete;
    ~StandstillWatch();

    Duration longest() const;
    Duration together() const;

private:
    void watch();

    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_stop = false;
    Duration m_longest{};
    Duration m_together{};
    std::thread m_thread;
};

}  // namespace jobthrottle::test
