// SPDX-License-Identifier: MIT
#include "core/refusal/line_splitter.hpp"

#include <algorithm>

namespace jobthrottle {

namespace {

std::string_view last_bytes(std::string_view bytes, std::size_t count) {
    return bytes.substr(bytes.size() - std::min(count, bytes.size()));
}

}  // namespace

RawLine LineSplitter::whole_line(std::string_view end_of_line) {
    if (m_length > 0) {
        keep(end_of_line);
        return {m_kept, m_length > k_longest_line, true};
    }
    const bool over_long = end_of_line.size() > k_longest_line;
    return {over_long ? last_bytes(end_of_line, k_kept_end) : end_of_line, over_long, true};
}

void LineSplitter::keep(std::string_view bytes) {
    m_length += bytes.size();
    if (m_length <= k_longest_line) {
        m_kept += bytes;
        return;
    }
    if (bytes.size() >= k_kept_end) {
        m_kept = last_bytes(bytes, k_kept_end);
        return;
    }
    m_kept += bytes;
    m_kept.erase(0, m_kept.size() - std::min(k_kept_end, m_kept.size()));
}

}  // namespace jobthrottle
