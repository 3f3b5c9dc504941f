// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time.hpp"

namespace jobthrottle::test {

// Watches from threads of its own, one on each processor, for moments in which this machine ran nothing of
// ours there: a virtual machine or one of its processors that was stopped by its host, a group out of its
// share. What such a moment takes is not the program's doing, and the tests that measure times allow for it.
class StandstillWatch {
public:
    StandstillWatch();
    StandstillWatch(const StandstillWatch&) = delete;
    StandstillWatch& operator=(const StandstillWatch&) = delete;
    ~StandstillWatch();

    Duration longest() const;
    Duration together() const;  // of all processors: a chain of jobs may have met them all

private:
    void watch(int processor);

    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_stop = false;
    Duration m_longest{};
    Duration m_together{};
    std::vector<std::thread> m_threads;
};

}  // namespace jobthrottle::test
