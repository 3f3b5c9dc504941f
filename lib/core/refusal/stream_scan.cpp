// SPDX-License-Identifier: MIT
#include "core/refusal/stream_scan.hpp"

#include <string.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/refusal/cursor.hpp"
#include "core/refusal/retry_after.hpp"

namespace jobthrottle {

namespace {

constexpr char k_escape = '\x1b';
constexpr std::string_view k_protocol = "HTTP/";
constexpr std::string_view k_message_name = "retry-after:";
constexpr std::string_view k_awaiting = "HTTP request sent, awaiting response...";
constexpr std::size_t k_most_evidence = 200;
constexpr std::size_t k_longest_message = 512;

std::string evidence_line(std::string_view text) {
    return std::string(text.substr(0, k_most_evidence));
}

// The part of a line that a terminal would show, without looking at anything but carriage returns.
std::string_view after_return(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const void* found = line.empty() ? nullptr : ::memrchr(line.data(), '\r', line.size());
    if (found == nullptr) return line;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - line.data());
    return line.substr(at + 1);
}

bool may_end_in_return(std::string_view line) {
    return line.ends_with('\r') || line.find(k_escape) != std::string_view::npos;
}

}  // namespace

bool Refusal::outlasts(const Refusal& other) const {
    if (!asked || !other.asked) return asked.has_value() && !other.asked;
    constexpr Duration k_far = std::chrono::hours{24} * 366;  // beyond any clamp, and no overflow in the sum
    return arrived + std::min(*asked, k_far) > other.arrived + std::min(*other.asked, k_far);
}

void RefusalLedger::refuse(const Refusal& refusal) {
    const bool both_silent = m_longest && !m_longest->asked && !refusal.asked;
    if (both_silent && (refusal.ill_formed.empty() || !m_longest->ill_formed.empty())) {
        // A second report of the same, as a rule: the first tells more, the later one holds longer.
        m_longest->arrived = std::max(m_longest->arrived, refusal.arrived);
    } else if (!m_longest || both_silent || refusal.outlasts(*m_longest)) {
        m_longest = refusal;
    }
}

StreamScan::StreamScan(const Settings& settings) : m_settings(settings) {
    if (settings.line_rules == nullptr) return;
    for (const LineRule& rule : *settings.line_rules) {
        for (const char c : rule.first_bytes)
            m_begins_client_line[static_cast<unsigned char>(c)] = true;
    }
}

void StreamScan::feed(std::string_view bytes, Moment now) {
    m_splitter.feed(bytes, [&](const RawLine& line) { take(line, now); });
}

void StreamScan::end(Moment now) {
    if (!m_splitter.last().bytes.empty()) take(m_splitter.last(), now);
    if (m_head) close_head();
}

std::optional<Refusal> StreamScan::message() const {
    if (!m_message || m_seen_head) return std::nullopt;
    const std::string_view value = trim(std::string_view(m_message->line).substr(k_message_name.size()));
    const auto asked = parse_retry_after(value, m_message->arrived.wall);
    if (!asked) return std::nullopt;
    const std::string reason = "the command said Retry-After: " + std::string(value);
    return Refusal{asked, m_message->arrived.boot, {}, {source(), evidence_line(m_message->line), reason}};
}

void StreamScan::take(RawLine line, Moment now) {
    if (m_settings.through_terminal && line.bytes.ends_with('\r')) line.bytes.remove_suffix(1);
    if (line.over_long) {
        take_over_long(line, now);
    } else if (m_head || may_matter(line.bytes)) {
        take_text(clean_line(line, m_scratch), now);
    } else {
        m_after_awaiting = false;
        m_message.reset();
    }
}

// Nearly all output is lines that do not, and this sees every one of them: it must be cheap, and may say yes
// too often, never no.
bool StreamScan::may_matter(std::string_view line) const {
    const std::string_view shown = after_return(line);
    if (shown.empty() || m_begins_client_line[static_cast<unsigned char>(shown.front())]) return true;
    if (m_seen_plain_head && may_end_in_return(line) && line.find("HTTP") != std::string_view::npos)
        return true;
    switch (shown.front()) {
        case 'H':
        case 'R':
        case 'r':
        case k_escape:
            return true;
        case '<':
        case '>':
            return shown.size() > 1 && (shown[1] == ' ' || shown[1] == k_escape);
        default:
            break;
    }
    const std::string_view rest = without_meter(shown);
    if (rest.size() == shown.size()) return false;
    return rest.empty() || rest.front() == '<' || rest.front() == '>' || rest.front() == 'H' ||
           rest.front() == k_escape;
}

void StreamScan::take_text(const TextLine& line, Moment now) {
    if (m_head) {
        const ResponseHead::Step step = m_head->add(line);
        if (step != ResponseHead::Step::taken) close_head();
        if (step != ResponseHead::Step::other) return;
    }
    const bool after_awaiting = std::exchange(m_after_awaiting, line.text.starts_with(k_awaiting));
    if (line.text.empty()) return;
    note_message(line.text, now);
    if (open_head(line, after_awaiting, now) || open_glued_head(line, now)) return;
    // An ill-formed status line is no answer, but what follows it is no message of the command either.
    if (line.text.starts_with(k_protocol)) m_seen_head = true;
    if (is_sent_request(line.text)) m_request_seen = true;
    try_line_rules(line.text, now);
}

// Too long to be a line of a head, or a message; but a body without a line feed at its end, however long, has
// the next status line glued to it.
void StreamScan::take_over_long(const RawLine& line, Moment now) {
    if (m_head) close_head();
    m_after_awaiting = false;
    m_message.reset();
    open_glued_head(clean_line(line, m_scratch), now);
}

bool StreamScan::open_head(const TextLine& line, bool after_awaiting, Moment now) {
    if (const auto status = parse_status_line(line.text)) {
        begin_head(HeadPrefix::none, *status, line, now);
        return true;
    }
    const std::string_view received = without_meter(line.text);
    if (m_request_seen && received.starts_with("< ")) {
        if (const auto status = parse_status_line(received.substr(2))) {
            begin_head(HeadPrefix::received, *status, {received, line.ends_in_crlf, line.complete}, now);
            return true;
        }
    }
    const bool may_be_indented = after_awaiting || m_settings.stream != ScannedStream::out;
    if (may_be_indented && line.text.starts_with("  ")) {
        if (const auto status = parse_status_line(line.text.substr(2))) {
            begin_head(HeadPrefix::indented, *status, line, now);
            return true;
        }
    }
    return false;
}

bool StreamScan::open_glued_head(const TextLine& line, Moment now) {
    if (!m_seen_plain_head || !line.ends_in_crlf) return false;
    for (std::size_t at = line.text.find(k_protocol, 1); at != std::string_view::npos;
         at = line.text.find(k_protocol, at + 1)) {
        const char before = line.text[at - 1];
        if (before == '"' || before == '\'' || before == ' ') continue;
        const std::string_view text = line.text.substr(at);
        if (const auto status = parse_status_line(text)) {
            begin_head(HeadPrefix::none, *status, {text, true, true}, now);
            return true;
        }
    }
    return false;
}

void StreamScan::begin_head(HeadPrefix prefix, int status, const TextLine& line, Moment now) {
    m_head.emplace(prefix, status, line, now);
    m_seen_head = true;
    if (prefix == HeadPrefix::none) m_seen_plain_head = true;
    if (status >= 200) m_request_seen = false;
}

void StreamScan::close_head() {
    const ResponseHead head = std::move(*m_head);
    m_head.reset();
    const HttpAnswer answer = head.judge();
    if (answer.kind == HttpAnswerKind::accepted) {
        m_all.accept();
        if (head.has_crlf()) m_sure.accept();
    } else if (answer.kind == HttpAnswerKind::refused) {
        const Refusal refusal{answer.asked,
                              head.arrived().boot,
                              answer.ill_formed,
                              {source(), head.status_line(), answer.reason}};
        m_all.refuse(refusal);
        if (head.has_crlf()) m_sure.refuse(refusal);
    }
}

void StreamScan::try_line_rules(std::string_view text, Moment now) {
    if (m_settings.line_rules == nullptr) return;
    for (const LineRule& rule : *m_settings.line_rules) {
        if (!rule.may_match(text) || !rule.matches(text)) continue;
        m_all.refuse({std::nullopt,
                      now.boot,
                      {},
                      {source(), evidence_line(text), "said by " + std::string(rule.client)}});
        return;
    }
}

void StreamScan::note_message(std::string_view text, Moment now) {
    m_message.reset();
    if (text.size() > k_longest_message || !starts_with_ignoring_case(text, k_message_name)) return;
    m_message = Message{std::string(text), now};
}

Evidence::Source StreamScan::source() const {
    switch (m_settings.stream) {
        case ScannedStream::out:
            return Evidence::Source::out;
        case ScannedStream::err:
            return Evidence::Source::err;
        case ScannedStream::both:
            break;
    }
    return Evidence::Source::both;
}

}  // namespace jobthrottle
