// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

namespace jobthrottle {

// A line with which a client says that it was refused and gave up. Such a line counts only at the start of a
// line of standard error and only when the command failed; it never gives a delay.
struct LineRule {
    std::string_view client;                 // who prints it, for the evidence
    std::string_view first_bytes;            // such a line begins with one of these; spares the rest a look
    bool (*matches)(std::string_view line);  // the whole line, without line end and terminal codes

    bool may_match(std::string_view line) const {
        return !line.empty() && first_bytes.find(line.front()) != std::string_view::npos;
    }
};

// The lines that stand on their own, with no preset: those whose words are fixed by the client, not the
// provider.
const std::vector<LineRule>& client_line_rules();

}  // namespace jobthrottle
