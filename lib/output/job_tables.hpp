// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "core/report.hpp"

// Tables of jobs: those that wait for a key, and those that hold something of it.
namespace jobthrottle {

// The heading and a line for each in line, none wider than `width`. Of a long line its head and its last,
// unless `everybody`; without `forecasts` it is not said when each starts.
std::vector<std::string> waiting_lines(const std::vector<Waiter>&, int width, bool everybody, bool forecasts);

// The heading and a line for each: job, where, since when, and how its lease stands.
std::vector<std::string> holding_lines(const std::vector<Holder>&, int width);

}  // namespace jobthrottle
