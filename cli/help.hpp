// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/args_table.hpp"

namespace jobthrottle {

// The texts of --help, made from the table of commands and options: at most `width` columns (20 at least),
// but for command lines that are there to be copied.
std::string program_help(int width);
std::string command_help(const CommandRow& command, int width);
std::string version_text();

}  // namespace jobthrottle
