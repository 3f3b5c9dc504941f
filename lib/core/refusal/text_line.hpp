// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/refusal/line_splitter.hpp"

namespace jobthrottle {

// A line of output as a reader of the terminal would see it.
struct TextLine {
    std::string_view text;
    bool ends_in_crlf = false;
    bool complete = true;  // false: the output ended before the line feed
};

// Takes colours and titles (CSI and OSC sequences) out, then one carriage return at the end, then what a
// carriage return within the line overwrites. `scratch` holds the text where it differs from the line.
TextLine clean_line(const RawLine& line, std::string& scratch);

}  // namespace jobthrottle
