// SPDX-License-Identifier: MIT
#include "standstill.hpp"

#include <sched.h>

#include <algorithm>

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration k_nap = 5ms;
// A nap that takes this much too long is no standstill but the usual crowd.
constexpr Duration k_usual = 20ms;

constexpr std::size_t k_most_processors = 8;

// Those that this thread may run on.
std::vector<int> processors() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        for (int i = 0; i < CPU_SETSIZE && found.size() < k_most_processors; ++i) {
            if (CPU_ISSET(static_cast<std::size_t>(i), &allowed)) found.push_back(i);
        }
    }
    if (found.empty()) found.push_back(0);
    return found;
}

// Where that is not allowed it stays free to move.
void stay_on(int processor) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(processor), &only);
    sched_setaffinity(0, sizeof only, &only);
}

}  // namespace

StandstillWatch::StandstillWatch() {
    for (const int processor : processors())
        m_threads.emplace_back([this, processor] { watch(processor); });
}

StandstillWatch::~StandstillWatch() {
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
}

void StandstillWatch::watch(int processor) {
    stay_on(processor);
    std::unique_lock lock(m_mutex);
    BootTime last = BootClock::now();
    while (!m_wake.wait_for(lock, k_nap, [this] { return m_stop; })) {
        const BootTime now = BootClock::now();
        const Duration late = now - last - k_nap;
        last = now;
        if (late < k_usual) continue;
        m_longest = std::max(m_longest, late);
        m_together += late;
    }
}

Duration StandstillWatch::longest() const {
    const std::lock_guard lock(m_mutex);
    return m_longest;
}

Duration StandstillWatch::together() const {
    const std::lock_guard lock(m_mutex);
    return m_together;
}

}  // namespace jobthrottle::test
