// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace jobthrottle {

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_token_char(char c);                                         // RFC 9110 tchar
bool equals_ignoring_case(std::string_view a, std::string_view b);  // ASCII only

// Reads a text from left to right. A step that does not match says so and moves nothing.
class Cursor {
public:
    explicit Cursor(std::string_view text) : m_rest(text) {}

    bool take(char c);
    bool take(std::string_view word);
    bool take_ignoring_case(std::string_view word);
    // Between `least` and `most` digits (at most 9), as many as there are; nothing where there are more or
    // fewer.
    std::optional<int> take_number(std::size_t least, std::size_t most);
    std::string_view take_digits();  // all that follow, possibly none
    // The index of the first of `words` that stands here, letter case aside.
    std::optional<int> take_one_of(std::initializer_list<std::string_view> words);

    bool at_end() const { return m_rest.empty(); }
    std::string_view rest() const { return m_rest; }

private:
    std::string_view m_rest;
};

}  // namespace jobthrottle
