// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jobthrottle {

// Reads along with what a server sends, and says whether it can be a Redis that answers us. hiredis believes
// every length that it is told, and reserves room for it before the first item has come; from 1.0 on it
// follows lists in lists to any depth, and frees them by recursion.
class ReplyGuard {
public:
    static constexpr std::size_t k_longest_line = std::size_t{64} << 10;  // of a status or an error
    static constexpr std::size_t k_longest_text = std::size_t{64} << 20;
    static constexpr std::size_t k_most_items = std::size_t{1} << 20;  // of one list; 8 bytes each in hiredis
    static constexpr std::size_t k_deepest = 7;                        // lists in lists

    // Takes the next bytes, split anywhere. False: this is no answer to us; it stays so.
    bool take(std::string_view bytes);

private:
    bool take_line_byte(char c);
    bool end_line();
    bool begin_list(std::size_t items);
    void end_item();

    std::string m_line;                     // of the item under way, as far as it has come
    std::size_t m_text_left = 0;            // of a text under way, its CRLF included
    std::vector<std::size_t> m_items_left;  // of each list under way, the innermost last
    bool m_is_redis = true;
};

}  // namespace jobthrottle
