// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/refusal/http_answer.hpp"
#include "core/refusal/text_line.hpp"
#include "core/refusal/verdict.hpp"

namespace jobthrottle {

// The status of "HTTP/1.1 429 Too Many Requests", all of `text` being that; nothing for anything else.
std::optional<int> parse_status_line(std::string_view text);

// What stands before each line of a head.
enum class HeadPrefix {
    none,      // curl -i, -D, httpie, xh, gh
    received,  // "< ": curl -v
    indented,  // two spaces: wget -S
};

// `text` without the digits of a progress meter, which curl prints into the line before "< " and "> ".
std::string_view without_meter(std::string_view text);

// "> GET /path HTTP/1.1": the request that a "< " head must have before it.
bool is_sent_request(std::string_view text);

// A response head while its lines come in. Bounded: of the fields only those that matter are kept.
class ResponseHead {
public:
    ResponseHead(HeadPrefix prefix, int status, const TextLine& status_line, Moment arrived);

    enum class Step {
        taken,  // a line of the head
        last,   // the blank line that ends it
        other,  // no line of it: the head ended before
    };
    Step add(const TextLine& line);

    // REQUIRES: no further line is added.
    HttpAnswer judge() const { return judge_http_answer(m_status, m_fields, m_arrived.wall); }

    bool has_crlf() const { return m_crlf; }
    Moment arrived() const { return m_arrived; }
    const std::string& status_line() const { return m_status_line; }  // at most 200 bytes of it

private:
    bool add_field(std::string_view text, bool complete);
    void fold(std::string_view text, bool complete);
    void keep(std::string_view name, std::string_view value);

    HeadPrefix m_prefix;
    int m_status;
    bool m_crlf;
    Moment m_arrived;
    std::string m_status_line;
    std::vector<HeadField> m_fields;
    int m_lines = 0;           // field lines seen
    bool m_last_kept = false;  // the last field line is m_fields.back()
};

}  // namespace jobthrottle
