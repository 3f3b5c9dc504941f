// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/refusal/retry_after.hpp"
#include "core/refusal/stream_scan.hpp"
#include "core/refusal/verdict.hpp"

namespace jobthrottle {

// --pause-on-exit CODE[=DURATION]
struct ExitRule {
    int code = 0;
    std::optional<Duration> delay;  // nothing: the default pause
};

// How an attempt is judged.
struct RefusalRules {
    PauseBounds bounds;
    std::vector<ExitRule> exit_rules;
    // Lines of standard error that say so where the command failed.
    std::vector<LineRule> line_rules = client_line_rules();
    // A bare "Retry-After: V" as the last line counts on standard output; on standard error it is talk,
    // unless the user named that stream.
    bool message_on_err = false;
    // The stream is read from a terminal of ours, which makes CR LF of every LF.
    bool out_through_terminal = false;
    bool err_through_terminal = false;
};

// How an attempt ended.
struct AttemptEnd {
    int exit_code = 0;  // as a shell has it: 128 + n where signal n ended the command
    Moment at;
};

// Reads the output of one attempt while it passes, and says at its end whether the provider refused it.
//
//     RefusalScanner scanner(rules);
//     scanner.feed(ScannedStream::out, bytes, now);   // any number of times, in pieces of any size
//     const Verdict verdict = scanner.finish({exit_code, now});
//
// A signal is: a complete HTTP response head as curl, wget, httpie, xh and gh print it; an error line of a
// known client on standard error, where the command failed; the command's own last line "Retry-After: V"; an
// exit code named by the user. An accepted answer clears the refusals before it on its stream. Of what is
// left the latest deadline wins; a refusal that gave no delay gives way to one that did.
//
// The pieces make no difference. Memory is bounded by a few KiB per stream, whatever the output. A stream
// that is not fed is not read. `now` of a piece is when it was read, and must not decrease.
class RefusalScanner {
public:
    explicit RefusalScanner(RefusalRules rules = {});
    RefusalScanner(const RefusalScanner&) = delete;
    RefusalScanner& operator=(const RefusalScanner&) = delete;

    void feed(ScannedStream stream, std::string_view bytes, Moment now);

    // Once, after the last feed.
    Verdict finish(const AttemptEnd& end);

private:
    StreamScan::Settings settings_for(ScannedStream stream) const;

    RefusalRules m_rules;
    std::array<StreamScan, 3> m_streams;  // indexed by ScannedStream; borrow m_rules
};

}  // namespace jobthrottle
