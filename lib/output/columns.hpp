// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text in columns of a terminal. All text is valid UTF-8 without control characters: escape it first.
namespace jobthrottle {

// How many columns it takes: none for combining marks, two for wide characters.
int display_width(std::string_view text);

// How many bytes at its start stand within that many columns.
std::size_t bytes_within(std::string_view text, int width);

// At most `width` columns of it; what was cut ends in "..", where there is room for that.
std::string cut_to_width(std::string_view text, int width);

// The same, cut behind a word where that loses less than half.
std::string cut_at_word(std::string_view text, int width);

// Lines of at most `width` columns (at least 2), broken at spaces, and inside a word only where it is longer
// than a line. One empty line for an empty text.
std::vector<std::string> wrap(std::string_view text, int width);

enum class Align { left, right };

struct Column {
    std::string heading;
    std::vector<std::string> cells;  // as many in each column
    Align align = Align::left;
    int drop = 0;   // of the columns that may go (not 0) the lowest goes first where room is short
    int least = 0;  // its cells may be cut to this many columns; 0: never
};

// The heading and one line for each row, two spaces between columns, no spaces at the end, none wider than
// `width`: columns are dropped until the rest fits with their cells cut, then the lines are cut.
std::vector<std::string> table(std::vector<Column> columns, int width);

}  // namespace jobthrottle
