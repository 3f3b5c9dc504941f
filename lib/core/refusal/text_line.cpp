// SPDX-License-Identifier: MIT
#include "core/refusal/text_line.hpp"

#include <algorithm>

namespace jobthrottle {

namespace {

constexpr char k_escape = '\x1b';

bool is_between(char c, unsigned char low, unsigned char high) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= low && byte <= high;
}

// How many bytes of `text`, which begins with ESC, are one sequence; 1 where it begins none.
std::size_t csi_length(std::string_view text) {
    std::size_t at = 2;
    while (at < text.size() && is_between(text[at], 0x30, 0x3F))
        ++at;
    while (at < text.size() && is_between(text[at], 0x20, 0x2F))
        ++at;
    if (at == text.size()) return at;
    return is_between(text[at], 0x40, 0x7E) ? at + 1 : 1;
}

// Up to BEL or ESC \, which belong to it, or to what no title can hold.
std::size_t osc_length(std::string_view text) {
    const std::size_t end = text.find_first_of("\x07\x1b\r", 2);
    if (end == std::string_view::npos) return text.size();
    if (text[end] == '\x07') return end + 1;
    return text.substr(end).starts_with("\x1b\\") ? end + 2 : end;
}

std::size_t sequence_length(std::string_view text) {
    if (text.size() > 1 && text[1] == '[') return csi_length(text);
    if (text.size() > 1 && text[1] == ']') return osc_length(text);
    return 1;
}

// An escape that begins no sequence stays.
void append_without_sequences(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const std::size_t escape = std::min(text.find(k_escape), text.size());
        out += text.substr(0, escape);
        text.remove_prefix(escape);
        if (text.empty()) return;
        const std::size_t length = sequence_length(text);
        if (length == 1) out += k_escape;
        text.remove_prefix(length);
    }
}

}  // namespace

TextLine clean_line(const RawLine& line, std::string& scratch) {
    std::string_view text = line.bytes;
    if (text.find(k_escape) != std::string_view::npos) {
        scratch.clear();
        append_without_sequences(scratch, text);
        text = scratch;
    }
    const bool has_return = text.ends_with('\r');
    if (has_return) text.remove_suffix(1);
    const std::size_t overwritten = text.rfind('\r');
    if (overwritten != std::string_view::npos) text.remove_prefix(overwritten + 1);
    return {text, has_return && line.complete, line.complete};
}

}  // namespace jobthrottle
