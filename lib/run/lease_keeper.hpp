// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/job_options.hpp"
#include "core/key.hpp"
#include "process/child.hpp"
#include "run/events.hpp"
#include "run/lease_watch.hpp"
#include "run/renewer.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// A lease that the attempt under way holds.
struct HeldLease {
    Key key;
    LeaseId id = 0;
    Duration lock_for{};
    BootTime taken{};  // no later than it was given: it lasts at least until taken + lock_for
    // It takes a concurrency place. One that does not is kept for the account alone: it is renewed, and that
    // it was lost is no matter for the command.
    bool place = true;
    // For taking it anew where the store loses its state: how many may run at once, the birth of the state it
    // was taken in, and whose it is.
    std::int64_t concurrency = 0;
    std::int64_t birth_us = 0;
    std::string who = {};
};

// Keeps the leases of one attempt while its command runs: renews each after a third of its time, in a thread
// and through a store of its own (a store that is away must not hold up the command's output), and does what
// is wanted when one is lost (LeaseWatch says when): says so, or ends the command before the lease could be
// another's. A short command costs neither thread nor store.
class LeaseKeeper final : public Companion {
public:
    // All is borrowed. `store` is told of the command's process, from the thread that runs it. `open_own` and
    // `clock` are called from the other thread, too; the store that it opens is used and closed there.
    LeaseKeeper(std::vector<HeldLease> leases, Store& store, OpenStore open_own, OnLeaseLost on_lost,
                Events& events, std::function<BootTime()> clock = BootClock::now);
    ~LeaseKeeper() override;  // waits for a call under way, at most as long as such a call takes

    void started(pid_t command) override;
    BootTime due() const override;
    std::optional<int> act() override;

    bool killed() const { return m_sent.has_value(); }  // it had the command ended

private:
    struct Kept {
        HeldLease lease;
        LeaseWatch watch;
    };
    void take_answers(BootTime now);
    void ask_for_renewals(BootTime now);
    void tell(const HeldLease& lease, const LeaseNews& news);
    std::optional<int> to_send(std::optional<int> wanted);

    std::vector<Kept> m_kept;
    Store& m_store;
    OpenStore m_open_own;
    Events& m_events;
    std::function<BootTime()> m_clock;
    pid_t m_command = -1;
    BootTime m_look_at = BootTime::max();  // for answers
    std::optional<int> m_sent;             // the last signal for the command
    std::unique_ptr<Renewer> m_renewer;
};

}  // namespace jobthrottle
