// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/args_words.hpp"
#include "cli/options.hpp"
#include "core/terms.hpp"

// What is wanted of keys: the limit options, in the order in which they stand. Errors (usage) name the option
// and show a right one.
namespace jobthrottle {

// The claims of a job on its keys. With several --key each limit option belongs to the one before it.
// `first`: the key that stands without --key, which is the only one then. `lock_for` where none is given.
// REQUIRES: a key, in one way or the other.
Result<std::vector<Claim>> read_claims(const std::vector<Word>& words,
                                       const std::optional<std::string>& first, Duration lock_for);

// Rates and concurrency alone, of one key; may be empty.
Result<Terms> read_terms(const std::vector<Word>& words);

}  // namespace jobthrottle
