// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/args_reader.hpp"
#include "cli/options.hpp"

// One function per command: its words, understood. `after` is what stands behind the "--".
namespace jobthrottle {

using Build = Options (*)(ArgsReader&, const std::vector<std::string>& after);
// REQUIRES: a command of the table.
Build builder_of(std::string_view command);

}  // namespace jobthrottle
