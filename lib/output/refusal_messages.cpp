// SPDX-License-Identifier: MIT
// What is said of refusals and pauses, of the store, and of the attempts.
#include <system_error>

#include "base/text.hpp"
#include "core/duration.hpp"
#include "output/messages.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

// "for 30m00s, until 14:31:07".
std::string pause_length(Duration pause, const LocalTime& now) {
    if (is_for_ever(pause)) return "until it is resumed";
    return "for " + format_duration(pause) + ", until " + moment_text(now.wall + pause, now);
}

// "acme: HTTP 429, Retry-After: 1800, seen by gh on ci-07: paused for 30m00s, until 14:31:07".
std::string refusal_text(const RefusalView& view) {
    const std::string evidence = evidence_text(view.note);
    std::string text = view.key.shown() + ": " + (evidence.empty() ? "refused" : evidence);
    if (view.pause <= Duration::zero()) return text;
    return text + ": paused " + pause_length(view.pause, view.now);
}

Line refusal_line(const RefusalView& view, const std::string& ending, std::optional<int> exit_code) {
    Line line{refusal_text(view) + ending, {{"key", view.key.bytes()}, {"why", "refused"}}};
    if (!view.note.job.empty()) line.fields.emplace_back("job", view.note.job);
    if (!is_for_ever(view.pause)) line.fields.emplace_back("pause_ms", std::to_string(ceil_ms(view.pause)));
    if (exit_code) line.fields.emplace_back("exit", std::to_string(*exit_code));
    return line;
}

std::string away(const std::string& store, const Error& error) {
    return "store " + escape_for_display(store) + " is away (" + error.message + "): ";
}

const char* name_of(const std::optional<OnStoreError>& policy) {
    if (!policy) return "wait";
    switch (*policy) {
        case OnStoreError::local:
            return "local";
        case OnStoreError::open:
            return "open";
        case OnStoreError::automatic:
        case OnStoreError::closed:
            break;
    }
    return "closed";
}

}  // namespace

Line say_refused(const RefusalView& view, bool ill_formed, bool lines_up_again) {
    std::string ending;
    if (ill_formed) ending += " (the default: its delay cannot be read)";
    if (lines_up_again) ending += "; lines up again";
    return refusal_line(view, ending, std::nullopt);
}

Line say_rerun_never(const RefusalView& view, int exit_code) {
    return refusal_line(view, ". With --rerun never: not run again.", exit_code);
}

Line say_max_refusals(const RefusalView& view, int refusals, int exit_code) {
    const std::string times = refusals == 1 ? "once" : count_text(refusals) + " times";
    return refusal_line(
        view, ". Refused " + times + ", which is all that --max-refusals allows: not run again.", exit_code);
}

Line say_half_read_input(const RefusalView& view, int exit_code) {
    return refusal_line(view,
                        ". It has read from a pipe on its standard input, which cannot be given again as a "
                        "file could be: not run again with half of its input. Give it a file instead, as in "
                        "jobthrottle run ... < FILE",
                        exit_code);
}

Line say_state_lost(const Key& key, Duration waited) {
    std::string text = "the store lost what it knew of " + key.shown() + ": this job lines up again";
    if (waited > Duration::zero()) text += "; the " + past_text(waited) + " it has waited still count";
    return {text, {{"key", key.bytes()}, {"waited_ms", std::to_string(ceil_ms(waited))}}};
}

Line say_store_away(const std::string& store, const Error& error, std::optional<OnStoreError> policy) {
    const std::string name = name_of(policy);
    std::string what = "nothing is run";
    if (name == "local") what = "throttling on this machine only until it is back";
    if (name == "open") what = "running unthrottled";
    if (name == "wait") what = "waiting for it to come back";
    return {away(store, error) + what, {{"store", store}, {"policy", name}}};
}

Line say_store_back(const std::string& store) {
    return {"store " + escape_for_display(store) + " is back", {{"store", store}}};
}

Line say_store_unusable(const std::string& store, const Error& error, bool ran_before, int exit_code) {
    const std::string ending = ran_before ? "not run again" : "nothing was run";
    std::string text = "store " + escape_for_display(store) + ": " + error.message + "; " + ending;
    if (error.kind == ErrorKind::unavailable)
        text = away(store, error) + ending + " (--on-store-error local or open would go on)";
    return {text, {{"store", store}, {"exit", std::to_string(exit_code)}}};
}

Line say_retrying(const FailureView& view) {
    const std::string how =
        view.signal > 0 ? "signal " + std::to_string(view.signal) : "exit " + std::to_string(view.exit_code);
    const std::string wait =
        view.backoff > Duration::zero() ? "trying again in " + format_duration(view.backoff) : "trying again";
    const std::string tries = view.tries_left == 1 ? "1 try" : count_text(view.tries_left) + " tries";
    return {view.key.shown() + ": " + escape_for_display(view.job) + " failed (" + how + "): " + wait + ", " +
                tries + " left",
            {{"key", view.key.bytes()},
             {"job", view.job},
             {"exit", std::to_string(view.exit_code)},
             {"tries_left", std::to_string(view.tries_left)},
             {"backoff_ms", std::to_string(ceil_ms(view.backoff))}}};
}

Line say_warning(const std::string& text) {
    return {text, {}};
}

Line say_error(const Error& error) {
    return {error.message, {}};
}

Line say_output_lost(int error_number) {
    return {"some output of the command is lost: " + std::generic_category().message(error_number),
            {{"errno", std::to_string(error_number)}}};
}

std::string pause_text(const Key& key, const PauseAnswer& answer, const LocalTime& now) {
    const bool paused = answer.forever || answer.left > Duration::zero();
    if (!paused) return key.shown() + " is not paused";
    const std::string how_long = answer.forever ? "until it is resumed" : pause_length(answer.left, now);
    if (answer.changed) return key.shown() + " is paused " + how_long;
    return key.shown() + " stays paused " + how_long + ": a pause that ends no sooner is in force";
}

std::string resume_text(const Key& key, bool was_paused) {
    return key.shown() + (was_paused ? " is no longer paused" : " was not paused");
}

}  // namespace jobthrottle
