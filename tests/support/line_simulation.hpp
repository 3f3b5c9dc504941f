// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/desk.hpp"

// Runners at one key in virtual time: they arrive, come back at the time they were told or later, lose
// replies, give up or die, while pauses, steps of the clock, changed limits and outages pass over them.
namespace jobthrottle::testing {

struct SimJob {
    Duration arrives{};
    Duration late{};                   // comes back up to so late, drawn anew each time
    std::optional<Duration> dies;      // asks nothing any more from then on
    std::optional<Duration> gives_up;  // cancels its place then
    bool caller = false;               // comes back at the time it was told, as `admit --ticket`
    int loses = 0;                     // each so many-th reply is lost and asked for again; 0: none
};

enum class SimTrouble { pause, resume, step, limit, outage };

struct SimEvent {
    Duration at{};  // since the begin, in true time
    SimTrouble what = SimTrouble::pause;
    Duration length{};  // of a pause or an outage; how far the store's clock steps
    std::string limit;
};

struct SimPlan {
    std::string limit = "8/s";
    Duration come_back = std::chrono::seconds{5};
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
};

struct SimResult {
    std::vector<SimStart> starts;    // in the order they were given
    std::vector<std::size_t> stuck;  // jobs that wait at the end
    Duration last() const;           // of the starts, in true time
    int most_turns() const;
};

// One question and its answer, shown to whoever watches.
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
