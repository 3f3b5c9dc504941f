// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "base/time.hpp"
#include "core/key.hpp"
#include "core/terms.hpp"

namespace jobthrottle {

// What a job wants of one key: each of its keys must let it start.
struct Claim {
    explicit Claim(Key of) : key(std::move(of)) {}

    Key key;
    Terms terms;  // empty: what is registered, or pauses alone
    bool pause_only = false;
    bool override_registered = false;
    std::int64_t cost = 1;  // starts that it counts as
    bool settles = false;   // its cost is a guess, that the command may settle
    bool count_successes = false;
    Duration lock_for = std::chrono::seconds{60};  // how long its lease lasts without a renewal
};

}  // namespace jobthrottle
