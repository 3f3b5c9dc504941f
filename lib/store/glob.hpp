// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace jobthrottle {

// Shell patterns as Redis's SCAN takes them: `*`, `?`, `[abc]`, `[a-z]`, `[^a]`, and a backslash quotes.
// Bytes, not characters. Linear in practice and never exponential: a star is matched again only from the last
// one.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace jobthrottle
