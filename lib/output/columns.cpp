// SPDX-License-Identifier: MIT
#include "output/columns.hpp"

#include <algorithm>
#include <cstdint>

namespace jobthrottle {

namespace {

constexpr int k_gap = 2;
constexpr int k_shortest_cell = 4;

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Combining marks, and characters that only change how others look.
constexpr Range k_no_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093A, 0x093A}, {0x093C, 0x093C},   {0x0941, 0x0948}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
    {0x202A, 0x202E}, {0x2060, 0x2064}, {0x2066, 0x206F},   {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

// East Asian wide and full-width characters, and pictures.
constexpr Range k_two_columns[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

template <std::size_t count>
bool is_in(const Range (&ranges)[count], std::uint32_t code) {
    const auto* after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                         [](std::uint32_t c, const Range& range) { return c < range.first; });
    return after != std::begin(ranges) && code <= (after - 1)->last;
}

struct Character {
    std::size_t bytes;
    int columns;
};

// REQUIRES: text is not empty.
Character first_character(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0xC0) return {1, 1};
    const std::size_t length = std::min<std::size_t>(lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2, text.size());
    std::uint32_t code = lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i)
        code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    if (is_in(k_no_width, code)) return {length, 0};
    return {length, is_in(k_two_columns, code) ? 2 : 1};
}

void pad(std::string& line, int columns) {
    if (columns > 0) line.append(static_cast<std::size_t>(columns), ' ');
}

int width_of(const Column& column) {
    int width = display_width(column.heading);
    for (const auto& cell : column.cells)
        width = std::max(width, display_width(cell));
    return width;
}

int total(const std::vector<int>& widths) {
    int sum = -k_gap;
    for (const int width : widths)
        sum += width + k_gap;
    return sum;
}

std::vector<int> widths_of(const std::vector<Column>& columns) {
    std::vector<int> widths;
    widths.reserve(columns.size());
    for (const auto& column : columns)
        widths.push_back(width_of(column));
    return widths;
}

// The least that a column can come down to.
std::vector<int> least_widths(const std::vector<Column>& columns) {
    std::vector<int> widths = widths_of(columns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].least > 0) widths[i] = std::min(widths[i], columns[i].least);
    }
    return widths;
}

bool drop_one(std::vector<Column>& columns) {
    auto lowest = columns.end();
    for (auto column = columns.begin(); column != columns.end(); ++column) {
        if (column->drop != 0 && (lowest == columns.end() || column->drop < lowest->drop)) lowest = column;
    }
    if (lowest == columns.end()) return false;
    columns.erase(lowest);
    return true;
}

// REQUIRES: the columns fit at their least widths, or none may shrink further.
void shrink(const std::vector<Column>& columns, std::vector<int>& widths, int width) {
    const std::vector<int> least = least_widths(columns);
    for (int over = total(widths) - width; over > 0; --over) {
        std::size_t widest = columns.size();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (widths[i] > least[i] && (widest == columns.size() || widths[i] > widths[widest])) widest = i;
        }
        if (widest == columns.size()) return;
        --widths[widest];
    }
}

}  // namespace

int display_width(std::string_view text) {
    int width = 0;
    while (!text.empty()) {
        const Character next = first_character(text);
        width += next.columns;
        text.remove_prefix(next.bytes);
    }
    return width;
}

std::size_t bytes_within(std::string_view text, int width) {
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const Character next = first_character(text.substr(bytes));
        if (next.columns > width) break;
        width -= next.columns;
        bytes += next.bytes;
    }
    return bytes;
}

std::string cut_to_width(std::string_view text, int width) {
    if (bytes_within(text, width) == text.size()) return std::string(text);
    if (width < k_shortest_cell) return std::string(text.substr(0, bytes_within(text, width)));
    return std::string(text.substr(0, bytes_within(text, width - 2))) + "..";
}

std::string cut_at_word(std::string_view text, int width) {
    std::string cut = cut_to_width(text, width);
    if (cut.size() == text.size() || width < k_shortest_cell) return cut;
    const std::size_t end = bytes_within(text, width - 2);
    const std::size_t space = text[end] == ' ' ? end : text.rfind(' ', end);
    if (space == std::string_view::npos || space < end / 2) return cut;
    const auto last = text.find_last_not_of(" ,;:", space);
    return std::string(text.substr(0, last + 1)) + "..";
}

std::vector<std::string> wrap(std::string_view text, int width) {
    std::vector<std::string> lines;
    while (display_width(text) > width) {
        const std::size_t fits = std::max<std::size_t>(bytes_within(text, width), 1);
        std::size_t end = text[fits] == ' ' ? fits : text.rfind(' ', fits - 1);
        if (end == std::string_view::npos || end == 0) end = fits;
        const std::string_view line = text.substr(0, end);
        lines.emplace_back(line.substr(0, line.find_last_not_of(' ') + 1));
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    if (!text.empty() || lines.empty()) lines.emplace_back(text);
    return lines;
}

std::vector<std::string> table(std::vector<Column> columns, int width) {
    while (total(least_widths(columns)) > width && drop_one(columns)) {
    }
    std::vector<int> widths = widths_of(columns);
    shrink(columns, widths, width);
    const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
    std::vector<std::string> lines;
    for (std::size_t row = 0; row <= rows; ++row) {
        std::string line;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::string& whole = row == 0 ? columns[i].heading : columns[i].cells[row - 1];
            const std::string cell = cut_to_width(whole, widths[i]);
            const int room = widths[i] - display_width(cell);
            if (i > 0) pad(line, k_gap);
            if (columns[i].align == Align::right) pad(line, room);
            line += cell;
            if (columns[i].align == Align::left) pad(line, room);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(cut_to_width(line, width));
    }
    return lines;
}

}  // namespace jobthrottle
