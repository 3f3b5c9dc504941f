// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/attempts.hpp"
#include "core/decide.hpp"
#include "core/job_options.hpp"
#include "core/key.hpp"
#include "core/report.hpp"
#include "output/wall_clock.hpp"

// What the program says on standard error, one function for each thing said. Pure: the caller gives the time,
// the store's answer and what the user asked for.
namespace jobthrottle {

// One line, not yet laid out. The fields are for programs; their names carry units.
struct Line {
    std::string text;
    std::vector<std::pair<std::string, std::string>> fields;
};

// "jobthrottle: TEXT", and off a terminal two spaces and "key=value ..." after it; no newline at the end.
// Values with a space, a quote or an equals sign, and empty ones, are quoted. Control characters and invalid
// UTF-8 are escaped in both, wherever they come from.
std::string render(const Line&, bool terminal);

// A job that waits.
struct WaitView {
    Key key;
    Answer answer;                  // the last one
    Duration since_answer{};        // how old it is
    Duration waited{};              // by this job for the throttle, all its waits together
    std::optional<PauseNote> note;  // of the pause, where the caller knows it
    LocalTime now;
};
// Places ahead, forecast, and why: the rate, those ahead, the places that are taken, for which there is no
// forecast, or the pause, by whom and until when.
Line say_waiting(const WaitView&);
// The same for one line of a terminal that is kept up to date: of what is said the time comes first, so that
// a narrow screen shows it; escaped, at most `width` columns, cut at a word. No newline.
std::string live_line(const WaitView&, int width);
// No answer has come yet from the store.
Line say_not_answered(const Key&, const std::string& store, Duration waited);

// A job that is not started now: 75. The fields give the wait as wait_s, whole seconds rounded up, unless it
// has no end.
struct ThrottledView {
    Key key;
    Answer answer;
    Duration wait{};                   // until a start is possible
    Duration waited{};                 // by this job for the throttle
    std::optional<Duration> max_wait;  // none: for ever
    std::optional<PauseNote> note;     // of the pause, where the caller knows it
    LocalTime now;
    int exit_code = 75;
    bool ran_before = false;  // an attempt of this job has run: "not run again"
};
Line say_not_now(const ThrottledView&);  // --no-wait
// --max-waiting: so many wait already that this one takes no place.
Line say_crowded(const ThrottledView&, std::int64_t max_waiting);
Line say_too_long(const ThrottledView&);    // the forecast is beyond --max-wait: said at once
Line say_waited_out(const ThrottledView&);  // --max-wait is over

struct RefusalView {
    Key key;
    PauseNote note;
    Duration pause{};  // of the key, from now
    LocalTime now;
};
// One line per refusal. `ill_formed`: the delay asked for could not be read, so that the pause is the
// default.
Line say_refused(const RefusalView&, bool ill_formed, bool lines_up_again);
// Refused, and not to be run again: 75.
Line say_rerun_never(const RefusalView&, int exit_code);
Line say_max_refusals(const RefusalView&, int refusals, int exit_code);
Line say_half_read_input(const RefusalView&, int exit_code);

// The numbers that the key is judged by are not those that this job brought (`registered`, which may be held
// back from the caller, names who registered them), or the question before came with others.
Line say_other_numbers(const Key&, const Terms& brought, const Answer&,
                       const std::optional<Registration>& registered);
Line say_state_lost(const Key&, Duration waited);
// `policy` none: the job has a place and asks again until its patience ends.
Line say_store_away(const std::string& store, const Error&, std::optional<OnStoreError> policy);
Line say_store_back(const std::string& store);
// 69: the store is away and the policy is `closed`, or it refuses.
Line say_store_unusable(const std::string& store, const Error&, bool ran_before, int exit_code = 69);
// A place that the running command had ran out this long ago. `killed`: the command is being ended.
Line say_lease_lost(const Key&, Duration lost_for, bool killed);
Line say_lease_retaken(const Key&, Duration lost_for);
struct FailureView {
    Key key;
    std::string job;  // its name
    int exit_code = 0;
    int signal = 0;  // that ended it; 0: none
    int tries_left = 0;
    Duration backoff{};
};
Line say_retrying(const FailureView&);
Line say_warning(const std::string& text);
Line say_error(const Error&);
// Some of the command's output could not be passed on.
Line say_output_lost(int error_number);

// 78: the job could never start. `last`: the numbers that another job of this very key brought last, where
// they are still known; empty where not.
Line say_no_limit(const Key&, const Terms& last, const std::vector<std::string>& nearest);
// More than four limits together with those registered.
Line say_conflict(const Key&, const Terms& brought, const Answer&,
                  const std::optional<Registration>& registered);
Line say_too_costly(const Key&, std::int64_t cost, const Answer&,
                    const std::optional<Registration>& registered);
// A run that this job is part of holds a place of the key.
Line say_nested(const Key&);

// What `pause`, `resume`, `register` and `unregister` print on standard output; one line each, no newline.
std::string pause_text(const Key&, const PauseAnswer&, const LocalTime& now);
std::string resume_text(const Key&, bool was_paused);
std::string register_text(const Key&, const Terms&, const std::optional<Registration>& before);
// What becomes of jobs that bring what the last one brought; nothing where they are held to what was
// registered.
std::optional<Line> say_beside_registered(const Key&, const Terms& last, const Terms& registered);
std::string unregister_text(const Key&, const std::optional<Registration>& before);

// What `renew`, `release` and `settle` have to say: it ran out, and another may have its place; or there is
// no such lease.
Line say_lost(const Key&, Duration lost_for, int exit_code);
Line say_not_held(const Key&, int exit_code);
Line say_not_settled(const Key&, int exit_code);  // of an attempt that is kept no account of
// The leases that `release --all` or `--dead` released: a line for each, with a newline.
std::string released_text(const std::vector<Holder>&);

}  // namespace jobthrottle
