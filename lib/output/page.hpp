// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace jobthrottle {

// Lines of at most a given width, most of them a label and what stands beside it. All text is escaped.
class Page {
public:
    static constexpr int k_least_width = 20;
    static constexpr int k_label_width = 10;  // after an indent of two
    static constexpr int k_value_column = 2 + k_label_width;

    explicit Page(int width);

    int width() const { return m_width; }
    void line(const std::string& text) { m_text += text + "\n"; }
    // Each part goes on the line of the one before where it fits there; long ones are wrapped.
    void row(const std::string& label, const std::vector<std::string>& parts);
    void labelled(const std::string& label, const std::vector<std::string>& lines);

    std::string take() { return std::move(m_text); }

private:
    int m_width;
    std::string m_text;
};

std::string spaces(int count);  // none where it is negative

}  // namespace jobthrottle
