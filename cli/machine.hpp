// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/time.hpp"
#include "output/wall_clock.hpp"

// What this process is and when and where it runs.
namespace jobthrottle {

// The local store's library takes megabytes, of which it touches little, each time that a store is opened.
// From now on such memory is always mapped, which costs nothing; by default it is cleared byte by byte from
// the second time on, in the moment in which another job waits for a place.
void map_large_memory();

int utc_offset_s(WallTime when);  // of the local zone at that moment
LocalTime local_now();

std::string user_and_host();  // "dev@ci-07"
std::string who_runs();       // "dev@ci-07:4121", with the process id

}  // namespace jobthrottle
