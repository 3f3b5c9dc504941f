// SPDX-License-Identifier: MIT
#include "store/glob.hpp"

#include <cstddef>

namespace jobthrottle {

namespace {

// Matches one element of the pattern at `p` against a byte; moves `p` behind the element.
bool element_matches(std::string_view pattern, std::size_t& p, char byte) {
    if (pattern[p] == '?') {
        ++p;
        return true;
    }
    const auto close = pattern[p] == '[' ? pattern.find(']', p + 2) : std::string_view::npos;
    if (close == std::string_view::npos) {
        if (pattern[p] == '\\' && p + 1 < pattern.size()) ++p;
        return pattern[p++] == byte;
    }
    std::string_view set = pattern.substr(p + 1, close - p - 1);
    p = close + 1;
    const bool negated = set.front() == '^';
    if (negated) set.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (i + 2 < set.size() && set[i + 1] == '-') {
            found = found || (set[i] <= byte && byte <= set[i + 2]);
            i += 2;
        } else {
            found = found || set[i] == byte;
        }
    }
    return found != negated;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0;
    std::size_t star = std::string_view::npos, star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
            continue;
        }
        std::size_t next = p;
        if (p < pattern.size() && element_matches(pattern, next, text[t])) {
            p = next;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

}  // namespace jobthrottle
