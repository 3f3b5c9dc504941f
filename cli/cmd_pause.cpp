// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "cli/session.hpp"
#include "core/when.hpp"
#include "output/json.hpp"

namespace jobthrottle {

namespace {

PauseRequest request_of(const PauseOptions& options, WallTime now) {
    PauseNote note;
    note.summary = options.summary;
    note.who = who_runs();
    note.reason = options.reason;
    note.at_s = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    PauseRequest request;
    request.length = options.length.value_or(Duration::zero());
    // A moment was named: what is left of the way there now.
    if (options.until) request.length = std::max<Duration>(std::chrono::seconds{1}, *options.until - now);
    request.forever = !options.length.has_value();
    request.by_hand = options.by_hand;
    request.note = encode(note);
    return request;
}

}  // namespace

int execute(const PauseOptions& options) {
    auto session = Session::open(options.common, Purpose::throttle);
    if (!session) return exit_with(session.error());
    const LocalTime now = local_now();
    const auto answer = session->store().pause(options.key, request_of(options, now.wall));
    if (!answer) return session->exit_with(answer.error());
    std::string text =
        options.json ? pause_json(options.key, *answer) : pause_text(options.key, *answer, now);
    if (!options.json && options.until && answer->changed)
        text += " (" + format_when(*options.until, utc_offset_s) + ")";
    return print(text + "\n") ? 0 : exit_code_of(ErrorKind::internal);
}

int execute(const ResumeOptions& options) {
    auto session = Session::open(options.common, Purpose::throttle);
    if (!session) return exit_with(session.error());
    const auto answer = session->store().resume(options.key);
    if (!answer) return session->exit_with(answer.error());
    const std::string text =
        options.json ? pause_json(options.key, *answer) : resume_text(options.key, answer->changed);
    return print(text + "\n") ? 0 : exit_code_of(ErrorKind::internal);
}

}  // namespace jobthrottle
