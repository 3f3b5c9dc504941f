// SPDX-License-Identifier: MIT
#include "output/page.hpp"

#include <algorithm>

#include "output/columns.hpp"

namespace jobthrottle {

Page::Page(int width) : m_width(std::max(width, k_least_width)) {}

void Page::row(const std::string& label, const std::vector<std::string>& parts) {
    const int room = m_width - k_value_column;
    std::vector<std::string> lines;
    for (const auto& part : parts) {
        if (part.empty()) continue;
        if (!lines.empty() && display_width(lines.back()) + 3 + display_width(part) <= room) {
            lines.back() += "   " + part;
            continue;
        }
        for (auto& wrapped : wrap(part, room))
            lines.push_back(std::move(wrapped));
    }
    labelled(label, lines);
}

void Page::labelled(const std::string& label, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string shown = i == 0 ? label : "";
        line("  " + shown + spaces(k_label_width - display_width(shown)) + lines[i]);
    }
}

std::string spaces(int count) {
    return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

}  // namespace jobthrottle
