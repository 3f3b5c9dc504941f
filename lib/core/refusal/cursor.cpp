// SPDX-License-Identifier: MIT
#include "core/refusal/cursor.hpp"

#include "base/text.hpp"

namespace jobthrottle {

bool is_token_char(char c) {
    if (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() && starts_with_ignoring_case(a, b);
}

bool Cursor::take(char c) {
    if (m_rest.empty() || m_rest.front() != c) return false;
    m_rest.remove_prefix(1);
    return true;
}

bool Cursor::take(std::string_view word) {
    if (!m_rest.starts_with(word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
}

bool Cursor::take_ignoring_case(std::string_view word) {
    if (!starts_with_ignoring_case(m_rest, word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
}

std::string_view Cursor::take_digits() {
    std::size_t length = 0;
    while (length < m_rest.size() && is_digit(m_rest[length]))
        ++length;
    const std::string_view digits = m_rest.substr(0, length);
    m_rest.remove_prefix(length);
    return digits;
}

std::optional<int> Cursor::take_number(std::size_t least, std::size_t most) {
    const std::string_view before = m_rest;
    const std::string_view digits = take_digits();
    if (digits.size() < least || digits.size() > most || digits.size() > 9) {
        m_rest = before;
        return std::nullopt;
    }
    int value = 0;
    for (const char c : digits)
        value = value * 10 + (c - '0');
    return value;
}

std::optional<int> Cursor::take_one_of(std::initializer_list<std::string_view> words) {
    int index = 0;
    for (const std::string_view word : words) {
        if (take_ignoring_case(word)) return index;
        ++index;
    }
    return std::nullopt;
}

}  // namespace jobthrottle
