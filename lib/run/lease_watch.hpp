// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/attempts.hpp"
#include "core/job_options.hpp"

namespace jobthrottle {

// What there is to tell of a lease.
struct LeaseNews {
    enum class What { nothing, lost, retaken };
    What what = What::nothing;
    Duration lost_for{};
    bool killed = false;  // with lost: the command is to end
};

// When the lease of a command under way is to be renewed, and when it is lost: judged by what the store
// answered and by the time alone. Reads no clock; every `now` is no earlier than the one before.
//
// It is surely ours until `taken + lock_for`, and until lock_for after each moment at which a renewal that
// held it was asked. It is renewed after a third of that; after a failure soon again. It counts as lost when
// the store says so, or when that time comes with the store away. A renewal that was asked only after that
// time (this process was stopped, or the machine slept) is waited for.
//
// OnLeaseLost::kill: TERM comes a quarter of lock_for (5 s at most) before that time and KILL a tenth (1 s at
// most) before it, so that the command is gone when the lease could be another's. Where it may be so already,
// TERM comes at once, and KILL 2 s after it.
class LeaseWatch {
public:
    LeaseWatch(Duration lock_for, BootTime taken, OnLeaseLost on_lost);

    bool wants_renewal(BootTime now) const { return !m_asking && now >= m_renew_at; }
    // A renewal is under way; answered() is to follow.
    void asking(BootTime now) { m_asking = now; }
    bool is_asking() const { return m_asking.has_value(); }
    // `asked`: just before the question was sent.
    LeaseNews answered(BootTime asked, const Result<LeaseAnswer>& answer, BootTime now);

    struct Step {
        LeaseNews news;
        std::optional<int> signal;  // for the command: TERM, later KILL, each once
    };
    Step at(BootTime now);
    // When to call wants_renewal() and at() next, as long as no answer comes.
    BootTime due() const;

private:
    LeaseNews held(BootTime asked, const LeaseAnswer& answer);
    LeaseNews lost(BootTime now, Duration lost_for, bool store_says);
    BootTime patience_ends() const;
    bool is_unanswered() const;

    Duration m_lock_for;
    bool m_kill;
    BootTime m_safe_until;
    BootTime m_renew_at;
    std::optional<BootTime> m_asking;
    bool m_failed = false;  // the last answer was an error
    bool m_lost = false;
    std::optional<int> m_next_signal;
    BootTime m_signal_at{};
    BootTime m_kill_at{};
};

}  // namespace jobthrottle
