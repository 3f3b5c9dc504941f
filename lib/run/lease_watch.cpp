// SPDX-License-Identifier: MIT
#include "run/lease_watch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr Duration k_most_to_end = 5s;     // from TERM to the end of the lease
constexpr Duration k_most_from_kill = 1s;  // from KILL
constexpr Duration k_late_grace = 2s;      // from TERM to KILL where it may be another's already
constexpr Duration k_soonest_retry = 100ms;
constexpr Duration k_latest_retry = 5s;

}  // namespace

LeaseWatch::LeaseWatch(Duration lock_for, BootTime taken, OnLeaseLost on_lost)
    : m_lock_for(lock_for),
      m_kill(on_lost == OnLeaseLost::kill),
      m_safe_until(taken + lock_for),
      m_renew_at(taken + lock_for / 3) {}

LeaseNews LeaseWatch::answered(BootTime asked, const Result<LeaseAnswer>& answer, BootTime now) {
    m_asking.reset();
    m_failed = !answer;
    if (!answer) {
        m_renew_at = now + std::clamp(m_lock_for / 30, k_soonest_retry, k_latest_retry);
        return {};
    }
    m_renew_at = std::max(asked + m_lock_for / 3, now);
    switch (answer->state) {
        case LeaseState::held:
        case LeaseState::retaken:
            return held(asked, *answer);
        case LeaseState::lost:
            return lost(now, answer->lost_for, true);
        case LeaseState::unknown:
            break;
    }
    return lost(now, std::max(now - m_safe_until, Duration::zero()), true);
}

LeaseNews LeaseWatch::held(BootTime asked, const LeaseAnswer& answer) {
    const bool anew = answer.state == LeaseState::retaken;
    const Duration since = anew ? answer.lost_for : std::max(asked - m_safe_until, Duration::zero());
    m_safe_until = asked + m_lock_for;
    if (m_lost && m_kill) return {};  // the command is being ended
    const bool was_lost = std::exchange(m_lost, false);
    if (!was_lost && !anew) return {};
    return {LeaseNews::What::retaken, since, false};
}

LeaseNews LeaseWatch::lost(BootTime now, Duration lost_for, bool store_says) {
    if (m_lost) return {};
    m_lost = true;
    if (m_kill) {
        const bool late = store_says || now >= m_safe_until;
        const BootTime in_time = m_safe_until - std::min(m_lock_for / 10, k_most_from_kill);
        m_next_signal = SIGTERM;
        m_signal_at = now;
        m_kill_at = late ? now + k_late_grace : std::max(in_time, now);
    }
    return {LeaseNews::What::lost, lost_for, m_kill};
}

// How long a store that does not answer is no loss.
BootTime LeaseWatch::patience_ends() const {
    return m_kill ? m_safe_until - std::min(m_lock_for / 4, k_most_to_end) : m_safe_until;
}

bool LeaseWatch::is_unanswered() const {
    return m_failed || (m_asking && *m_asking < patience_ends());
}

LeaseWatch::Step LeaseWatch::at(BootTime now) {
    Step step;
    if (!m_lost && is_unanswered() && now >= patience_ends())
        step.news = lost(now, std::max(now - m_safe_until, Duration::zero()), false);
    if (m_next_signal && now >= m_signal_at) {
        step.signal = m_next_signal;
        if (*m_next_signal == SIGTERM)
            m_next_signal = SIGKILL;
        else
            m_next_signal.reset();
        m_signal_at = m_kill_at;
    }
    return step;
}

BootTime LeaseWatch::due() const {
    BootTime due = BootTime::max();
    if (!m_asking) due = std::min(due, m_renew_at);
    if (!m_lost && is_unanswered()) due = std::min(due, patience_ends());
    if (m_next_signal) due = std::min(due, m_signal_at);
    return due;
}

}  // namespace jobthrottle
