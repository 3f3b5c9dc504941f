// SPDX-License-Identifier: MIT
#pragma once

#include "run/gate.hpp"

namespace jobthrottle {

// One wait for a start: what gate.cpp and gate_store.cpp share.
struct Gate::Wait {
    StartId id = random_id();
    TicketId place = 0;
    bool fresh = true;
    bool has_place = false;  // the store has said "wait" to this place
    std::int64_t birth_us = 0;
    BootTime began{};
    BootTime answered{};
    int late_starts = 0;
    int failures = 0;  // of the store, in a row
    BootTime away_since{};
};

}  // namespace jobthrottle
