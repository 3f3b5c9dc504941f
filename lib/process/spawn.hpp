// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <variant>

#include "base/result.hpp"
#include "process/exec.hpp"

namespace jobthrottle {

struct SpawnPlan {
    int output = -1;            // becomes standard output; -1 leaves it as it is. Borrowed
    int error_output = -1;      // likewise standard error
    bool own_group = false;     // a process group of its own
    bool dies_with_us = false;  // it gets SIGTERM when the calling thread dies
};

// Starts the image with the signals of the start of this process. Returns when it has been replaced by the
// command (its pid, to be waited for) or could not be (its end, nothing to wait for).
Result<std::variant<pid_t, ChildEnd>> spawn(const ExecImage& image, const SpawnPlan& plan);

}  // namespace jobthrottle
