// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace jobthrottle {

// A field line of a response head: the name as it was printed, the value without white space around it.
struct HeadField {
    std::string name;
    std::string value;
};

// Whether a field has a say in whether, and for how long, a response refuses. The others need not be kept.
bool is_telling_field(std::string_view name);

enum class HttpAnswerKind {
    interim,   // 1xx: says nothing
    accepted,  // requests are served (again), errors and redirects included
    refused,   // too many requests
    fault,     // a server's fault without a delay: neither
};

struct HttpAnswer {
    HttpAnswerKind kind = HttpAnswerKind::fault;
    std::optional<Duration> asked;  // of a refusal; not clamped
    std::string reason;             // "HTTP 429, Retry-After: 1800"; raw bytes of the head
    std::string ill_formed;  // the field of a refusal that should have given `asked` and could not be read
};

// What a final or interim response says. `now` is the time at which it arrived, for dates in it; its own Date
// field is preferred, since a server's dates are on the server's clock.
HttpAnswer judge_http_answer(int status, const std::vector<HeadField>& fields, WallTime now);

}  // namespace jobthrottle
