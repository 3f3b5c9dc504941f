// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.hpp"

namespace jobthrottle::test {

// Who hands one place from a command to the next.
enum class Keeper {
    local,  // run -j 1 on a local store
    redis,  // run -j 1 on a Redis of this machine
    flock,  // flock(1) of util-linux
    sem,    // sem --fg of GNU parallel
};

struct HandOvers {
    std::vector<Duration>
        took;               // from the last act of one command to the first of the next, by their own clocks
    Duration standstill{};  // the longest that the machine stood still meanwhile
    bool overlapped = false;  // two commands lived at the same time

    Duration median() const;
    Duration most() const;
};

// `count` times: one command holds the place for `hold`, the next has waited for it since it began. Throws as
// Program::wait() does, and when the keeper's program is not there.
HandOvers measure_hand_overs(Keeper, Duration hold, std::size_t count);

}  // namespace jobthrottle::test
