// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "support/run_program.hpp"

namespace jobthrottle::test {

struct PoolResult {
    std::vector<ProgramResult> results;  // in the order of the commands
    BootTime started;                    // when the first was started
    BootTime ended;                      // when the last ended

    Duration elapsed() const { return ended - started; }
    std::size_t count_with_code(int code) const;
};

// Runs all the commands, `at_once` at a time, the next one as soon as one ends; from one thread. Throws as
// Program::wait() does when one exceeds its own time-out; the others are then killed.
PoolResult run_pool(const std::vector<Argv>& commands, std::size_t at_once,
                    const ProgramOptions& options = {});

// The same command `count` times.
PoolResult run_many(const Argv& command, std::size_t count, std::size_t at_once,
                    const ProgramOptions& options = {});

}  // namespace jobthrottle::test
