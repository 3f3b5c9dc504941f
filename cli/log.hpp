// SPDX-License-Identifier: MIT
#pragma once

#include <string>

// The debug lines of -v. Nothing is set up and nothing costs anything without it.
namespace jobthrottle {

void start_debug_log();
bool debug_log_is_on();
// Escaped and written at once; nothing where the log is off.
void debug(const std::string& text);

}  // namespace jobthrottle
