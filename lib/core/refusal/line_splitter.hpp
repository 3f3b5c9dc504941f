// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jobthrottle {

// A line of output as it came, without its line feed.
struct RawLine {
    std::string_view bytes;  // of an over-long line only the end, k_kept_end bytes
    bool over_long = false;
    bool complete = true;
};

// Cuts a stream into lines, the same whatever pieces it comes in, and in bounded memory: a line longer than
// k_longest_line is over-long.
class LineSplitter {
public:
    static constexpr std::size_t k_longest_line = 8192;
    static constexpr std::size_t k_kept_end = 256;

    // Calls take(RawLine) for each line that ends in `bytes`; what is left waits for the next call.
    template <typename Take>
    void feed(std::string_view bytes, Take take) {
        while (!bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            if (end == std::string_view::npos) {
                keep(bytes);
                return;
            }
            take(whole_line(bytes.substr(0, end)));
            m_length = 0;
            m_kept.clear();
            bytes.remove_prefix(end + 1);
        }
    }

    // What came after the last line feed; empty when there is nothing. Valid until the next call of feed.
    RawLine last() const { return {m_kept, m_length > k_longest_line, false}; }

private:
    RawLine whole_line(std::string_view end_of_line);
    void keep(std::string_view bytes);

    std::string m_kept;        // the line so far, or the end of it
    std::size_t m_length = 0;  // of the line so far
};

}  // namespace jobthrottle
