// SPDX-License-Identifier: MIT
#include "core/refusal/response_head.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/refusal/cursor.hpp"

namespace jobthrottle {

namespace {

constexpr int k_most_lines = 256;
constexpr std::size_t k_most_kept = 16;
constexpr std::size_t k_longest_value = 512;
constexpr std::size_t k_most_evidence = 200;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

// The line without the prefix of its head; nothing where it has none.
std::optional<std::string_view> without_prefix(HeadPrefix prefix, std::string_view text) {
    const std::string_view want = prefix == HeadPrefix::received   ? "< "
                                  : prefix == HeadPrefix::indented ? "  "
                                                                   : "";
    if (!text.starts_with(want)) return std::nullopt;
    return text.substr(want.size());
}

bool is_remark(std::string_view text) {
    return text.starts_with("* ") || text.starts_with("{ ") || text.starts_with("} ") ||
           text.starts_with("= ");
}

}  // namespace

std::optional<int> parse_status_line(std::string_view text) {
    Cursor in(text);
    if (!in.take("HTTP/")) return std::nullopt;
    const bool versioned = in.take("1.1 ") || in.take("1.0 ") || in.take("2 ") || in.take("3 ") ||
                           in.take("2.0 ") || in.take("3.0 ");
    if (!versioned) return std::nullopt;
    const auto code = in.take_number(3, 3);
    if (!code || *code < 100 || *code > 599) return std::nullopt;
    if (in.at_end()) return code;
    if (!in.take(' ') || has_control(in.rest())) return std::nullopt;
    return code;
}

std::string_view without_meter(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of("0123456789kMGTP:.- "), text.size()));
}

bool is_sent_request(std::string_view text) {
    Cursor in(without_meter(text));
    if (!in.take("> ")) return false;
    std::string_view rest = in.rest();
    const std::size_t method = std::min(rest.find(' '), rest.size());
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (method < 3 || method > 16) return false;
    if (!std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(method), is_upper))
        return false;
    rest.remove_prefix(std::min(method + 1, rest.size()));
    const std::size_t target = std::min(rest.find(' '), rest.size());
    return target > 0 && !has_control(rest.substr(0, target)) && rest.substr(target).starts_with(" HTTP/");
}

ResponseHead::ResponseHead(HeadPrefix prefix, int status, const TextLine& status_line, Moment arrived)
    : m_prefix(prefix),
      m_status(status),
      m_crlf(status_line.ends_in_crlf),
      m_arrived(arrived),
      m_status_line(status_line.text.substr(0, k_most_evidence)) {}

ResponseHead::Step ResponseHead::add(const TextLine& line) {
    if (m_prefix == HeadPrefix::received && is_remark(line.text)) return Step::taken;
    const auto text = without_prefix(m_prefix, line.text);
    if (!text) return Step::other;
    if (text->empty()) {
        m_crlf = m_crlf || line.ends_in_crlf;
        return Step::last;
    }
    if (text->front() == ' ' || text->front() == '\t') {
        if (m_lines == 0) return Step::other;
        fold(*text, line.complete);
    } else if (!add_field(*text, line.complete)) {
        return Step::other;
    }
    m_crlf = m_crlf || line.ends_in_crlf;
    return Step::taken;
}

bool ResponseHead::add_field(std::string_view text, bool complete) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view name = text.substr(0, colon);
    const std::string_view value = text.substr(colon + 1);
    if (!std::all_of(name.begin(), name.end(), is_token_char) || has_control(value)) return false;
    ++m_lines;
    m_last_kept = false;
    // A value that was cut off may mean anything.
    if (complete && m_lines <= k_most_lines && is_telling_field(name)) keep(name, trim(value));
    return true;
}

void ResponseHead::keep(std::string_view name, std::string_view value) {
    if (m_fields.size() == k_most_kept) return;
    m_fields.push_back({std::string(name), std::string(value.substr(0, k_longest_value))});
    // No longer what was sent: it must not become a well-formed value by being cut.
    if (value.size() > k_longest_value) m_fields.back().value += "...";
    m_last_kept = true;
}

// A value on several lines is joined with one space in place of each break.
void ResponseHead::fold(std::string_view text, bool complete) {
    if (!m_last_kept || !complete) return;
    std::string& value = m_fields.back().value;
    const std::string_view more = trim(text);
    if (more.empty()) return;
    if (value.size() + more.size() > k_longest_value) {
        value = "...";
        return;
    }
    if (!value.empty()) value += ' ';
    value += more;
}

}  // namespace jobthrottle
