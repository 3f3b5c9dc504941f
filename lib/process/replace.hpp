// SPDX-License-Identifier: MIT
#pragma once

#include "process/child.hpp"

namespace jobthrottle {

// Becomes the command: for when nothing is left to do after its start. Signal mask, dispositions and
// descriptors are those this process was started with; nothing is watched. Returns only when that failed,
// with NotFound or NotExecutable, and with the signals held back again.
ChildEnd replace_process(const Command& command);

}  // namespace jobthrottle
