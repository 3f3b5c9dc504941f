// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "base/time.hpp"

namespace jobthrottle::test {

// How much later than admitted a command may be seen to start: it takes that long to be executed on a loaded
// machine, and two starts are seen closer together by it.
constexpr Duration k_lateness = std::chrono::milliseconds{250};

// The most of them that lie in any window of this length, both its ends included.
std::size_t most_within(std::vector<BootTime> times, Duration window);

// Fails the test unless the starts seen at these times keep to `per_second` starts a second and to one every
// slot of it, but for the two late slots that a key makes good, k_lateness, and `standstill`, the longest
// that the machine has stood still meanwhile.
void check_paced(const std::vector<BootTime>& times, int per_second, Duration standstill);

}  // namespace jobthrottle::test
