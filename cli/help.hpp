// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/args_table.hpp"

namespace jobthrottle {

// The texts of --help, at most 80 columns wide, made from the table of commands and options.
std::string program_help();
std::string command_help(const CommandRow& command);
std::string version_text();

}  // namespace jobthrottle
