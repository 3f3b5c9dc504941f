// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/refusal/client_lines.hpp"
#include "core/refusal/line_splitter.hpp"
#include "core/refusal/response_head.hpp"
#include "core/refusal/verdict.hpp"

namespace jobthrottle {

// One thing that says "too many requests".
struct Refusal {
    std::optional<Duration> asked;  // not clamped
    BootTime arrived;
    std::string ill_formed;
    Evidence evidence;

    // When it lets go, as far as it said; refusals that gave no delay come before all that did.
    bool outlasts(const Refusal& other) const;
};

// The refusals since the last accepted answer, of which only the one that lasts longest need be kept.
class RefusalLedger {
public:
    void refuse(const Refusal& refusal);
    void accept() { m_longest.reset(); }
    const std::optional<Refusal>& longest() const { return m_longest; }

private:
    std::optional<Refusal> m_longest;
};

// What one stream says. Which of it counts depends on how the command ended, so both readings are kept.
class StreamScan {
public:
    struct Settings {
        ScannedStream stream = ScannedStream::out;
        // The bytes come through a terminal, which puts a carriage return before every line feed.
        bool through_terminal = false;
        const std::vector<LineRule>* line_rules = nullptr;  // or none; borrowed
    };
    explicit StreamScan(const Settings& settings);

    void feed(std::string_view bytes, Moment now);
    void end(Moment now);  // once, after the last feed

    // The refusal that is left at the end of the stream. A head that was printed with bare line feeds, as
    // documents have them, and a client's error line count only where the command failed.
    const std::optional<Refusal>& refusal(bool failed) const { return (failed ? m_all : m_sure).longest(); }
    // The command's own message: a Retry-After line that ended the stream, which showed no head.
    std::optional<Refusal> message() const;

private:
    struct Message {
        std::string line;
        Moment arrived;
    };

    void take(RawLine line, Moment now);
    bool may_matter(std::string_view line) const;
    void take_text(const TextLine& line, Moment now);
    void take_over_long(const RawLine& line, Moment now);
    bool open_head(const TextLine& line, bool after_awaiting, Moment now);
    bool open_glued_head(const TextLine& line, Moment now);
    void begin_head(HeadPrefix prefix, int status, const TextLine& line, Moment now);
    void close_head();
    void try_line_rules(std::string_view text, Moment now);
    void note_message(std::string_view text, Moment now);
    Evidence::Source source() const;

    Settings m_settings;
    std::array<bool, 256> m_begins_client_line{};  // by first byte
    LineSplitter m_splitter;
    std::string m_scratch;
    std::optional<ResponseHead> m_head;
    bool m_seen_head = false;        // or what was to be one
    bool m_seen_plain_head = false;  // one without a prefix
    bool m_request_seen = false;     // "> GET ..." since the last final head
    bool m_after_awaiting = false;   // the line before was wget's
    std::optional<Message> m_message;
    RefusalLedger m_sure;
    RefusalLedger m_all;
};

}  // namespace jobthrottle
