// SPDX-License-Identifier: MIT
#include "standstill.hpp"

#include <algorithm>

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration k_nap = 5ms;
// A nap that takes this much too long is no standstill but the usual crowd.
constexpr Duration k_usual = 20ms;

}  // namespace

StandstillWatch::StandstillWatch() : m_thread([this] { watch(); }) {}

StandstillWatch::~StandstillWatch() {
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_all();
    m_thread.join();
}

void StandstillWatch::watch() {
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
