// SPDX-License-Identifier: MIT
// As much of the Redis protocol as a test needs, apart from the library under test.
#pragma once

#include <string>
#include <vector>

#include "base/fd.hpp"

namespace jobthrottle::test {

// Sends one command and gives the reply as redis-cli shows it. Throws std::runtime_error when none comes.
std::string redis_command(const Fd& connection, const std::vector<std::string>& args);

}  // namespace jobthrottle::test
