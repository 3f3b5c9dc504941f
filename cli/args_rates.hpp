// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "base/result.hpp"
#include "cli/args_words.hpp"
#include "core/rate.hpp"

namespace jobthrottle {

// The rates of one key, of --rate and of pairs of --allow and --every; a --burst belongs to the rate before
// it, or to the only one. Error (usage): names the option and shows a right one.
Result<std::vector<Rate>> read_rates(const std::vector<Word>& words);

}  // namespace jobthrottle
