// SPDX-License-Identifier: MIT
#include "store/redis/reply_guard.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_longest_number = 32;

bool is_length(std::string_view text, std::size_t at_most) {
    if (text == "-1") return true;  // nothing
    const auto length = parse_whole_number(text);
    return length && static_cast<std::uint64_t>(*length) <= at_most;
}

}  // namespace

bool ReplyGuard::take(std::string_view bytes) {
    while (m_is_redis && !bytes.empty()) {
        if (m_text_left > 0) {
            const std::size_t taken = std::min(m_text_left, bytes.size());
            m_text_left -= taken;
            bytes.remove_prefix(taken);
            if (m_text_left == 0) end_item();
        } else {
            m_is_redis = take_line_byte(bytes.front());
            bytes.remove_prefix(1);
        }
    }
    return m_is_redis;
}

bool ReplyGuard::take_line_byte(char c) {
    m_line += c;
    const char kind = m_line.front();
    const bool counted = kind == ':' || kind == '$' || kind == '*';
    if (!counted && kind != '+' && kind != '-') return false;
    if (c == '\n' && m_line.size() > 2 && m_line[m_line.size() - 2] == '\r') return end_line();
    return m_line.size() <= (counted ? k_longest_number : k_longest_line);
}

bool ReplyGuard::end_line() {
    const char kind = m_line.front();
    const std::string rest = m_line.substr(1, m_line.size() - 3);
    m_line.clear();
    const bool has_length = kind == '*' || kind == '$';
    if (has_length && !is_length(rest, kind == '*' ? k_most_items : k_longest_text)) return false;
    if (!has_length || rest == "-1") {
        end_item();
        return true;
    }
    const auto length = static_cast<std::size_t>(*parse_whole_number(rest));
    if (kind == '*') return begin_list(length);
    m_text_left = length + 2;
    return true;
}

bool ReplyGuard::begin_list(std::size_t items) {
    if (items == 0) {
        end_item();
        return true;
    }
    m_items_left.push_back(items);
    return m_items_left.size() <= k_deepest;
}

// The last item of a list ends that list too.
void ReplyGuard::end_item() {
    while (!m_items_left.empty() && --m_items_left.back() == 0)
        m_items_left.pop_back();
}

}  // namespace jobthrottle
