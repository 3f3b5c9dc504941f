// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jobthrottle {

// Whole-string numbers: digits only, no sign, no space, no overflow; anything else is nothing.
std::optional<std::int64_t> parse_whole_number(std::string_view text);

std::string_view trim(std::string_view text);  // spaces and tabs at both ends
std::vector<std::string_view> split(std::string_view text, char separator);
std::string to_lower(std::string_view text);  // ASCII only
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);

// For a terminal: control characters, DEL, invalid UTF-8 and the C1 controls become \n, \t, \xNN; a backslash
// is doubled so that the result is unambiguous.
std::string escape_for_display(std::string_view bytes);

bool is_valid_utf8(std::string_view bytes);

// The edit distance with insertions, deletions, substitutions and swaps of neighbours, for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, if one is near enough to be what was meant.
std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace jobthrottle
