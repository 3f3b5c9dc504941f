// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/desk.hpp"

// Runners at one key, or at several, in virtual time: they arrive, come back at the time they were told, when
// they are woken, or later, run their attempts and renew their leases, lose replies, give up or die, while
// pauses, steps of the clock, changed limits and outages pass over them.
namespace jobthrottle::testing {

struct SimJob {
    Duration arrives{};
    Duration late{};                   // comes back up to so late, drawn anew each time
    std::optional<Duration> dies;      // asks nothing any more from then on, and its attempt ends
    std::optional<Duration> gives_up;  // cancels its place then
    bool caller = false;               // comes back at the time it was told, as `admit --ticket`
    int loses = 0;                     // each so many-th reply is lost and asked for again; 0: none
    std::int64_t cost = 1;
    Duration holds{};                     // how long its attempt takes
    bool fails = false;                   // its attempt, so that its start is given back
    std::optional<std::int64_t> settles;  // what the attempt cost in truth, told half way through
    std::vector<std::size_t> keys = {0};  // of SimPlan::limits, all different
};

enum class SimTrouble { pause, resume, step, limit, outage };

struct SimEvent {
    Duration at{};  // since the begin, in true time
    SimTrouble what = SimTrouble::pause;
    Duration length{};  // of a pause or an outage; how far the store's clock steps
    std::string limit;  // of the first key
};

struct SimPlan {
    std::string limit = "8/s";             // of the first key
    std::vector<std::string> more_limits;  // of the others
    Duration come_back = std::chrono::seconds{5};
    Duration lock_for = std::chrono::seconds{60};
    Duration wake_takes = std::chrono::microseconds{300};
    bool count_successes = false;
    bool sees_deaths = false;  // the store knows the life of holders and waiters, as the local one
    std::uint64_t seed = 1;
    Duration ends = std::chrono::hours{24};  // jobs that wait then are left
    std::vector<SimJob> jobs;
    std::vector<SimEvent> events;
};

struct SimStart {
    std::size_t job = 0;
    std::int64_t asked_us = 0;  // when it was answered, on the key's clock
    std::int64_t at_us = 0;     // when it starts, on the key's clock
    Duration after{};           // when it starts, in true time since the begin
    std::int64_t number = 0;    // of the ticket that it held, 0: none
    int turns = 0;              // questions that it took, come-back checks aside
    Terms terms;                // that it was judged by
    std::int64_t birth_us = 0;  // of the state that it was given in
    Duration ends{};            // when its attempt is over, in true time
};

struct SimResult {
    std::vector<SimStart> starts;    // in the order they were given
    std::vector<std::size_t> stuck;  // jobs that wait at the end
    std::vector<Duration> asked;     // when questions were asked
    std::vector<Desk> desks;         // as they are left
    Duration last() const;           // of the starts, in true time
    int most_turns() const;
    std::int64_t most_at_once() const;                // attempts
    std::int64_t most_asked_in(Duration span) const;  // questions in any such time
};

// One question and its answer, of the first of the job's keys, shown to whoever watches.
struct SimMoment {
    std::size_t job = 0;
    Desk& desk;
    const MemoryRecords& before;
    const Question& question;
    const Answer& answer;
    std::int64_t key_now_us = 0;
};
using SimWatcher = std::function<void(const SimMoment&)>;

SimResult simulate(const SimPlan&, const SimWatcher& = {});

}  // namespace jobthrottle::testing
