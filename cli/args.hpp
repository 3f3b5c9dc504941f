// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/args_reader.hpp"
#include "cli/options.hpp"

namespace jobthrottle {

// What the user asked for, from the words after the program's name; the first "--" ends our own words. Error
// (usage or config): one line that names what is wrong and shows a right one.
Result<Options> parse_args(const std::vector<std::string>& words, const Surroundings& surroundings);

}  // namespace jobthrottle
