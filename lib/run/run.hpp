// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/job_options.hpp"
#include "core/refusal/scanner.hpp"
#include "process/child.hpp"
#include "run/gate.hpp"

namespace jobthrottle {

// One job, resolved: what to run and how its attempts are judged. The limits are the gate's.
struct RunPlan {
    JobOptions job;
    RefusalRules rules;
    std::vector<std::string> argv;
    bool scan_output = true;
    bool scan_error = true;
    std::string
        store_url;     // for JOBTHROTTLE_STORE; without a password that was not in the environment already
    std::string name;  // of the job, for the evidence of a pause
    std::string who;   // "user@host:pid"
    OnLeaseLost on_lease_lost = OnLeaseLost::warn;
    OpenStore open_store;  // another connection to the same store, for renewals; borrowed settings stay valid
};

// It ran, and this is how its last attempt ended.
struct Ran {
    ChildEnd end;
    int output_error = 0;  // errno that lost some of its output
};
// The provider refused it and it is not to be run again.
struct RefusedForGood {
    enum class Why { rerun_never, max_refusals, half_read_input };
    Why why = Why::rerun_never;
    PauseNote note;
    Duration pause{};
};

struct RunResult {
    std::variant<Ran, Throttled, RefusedForGood, Interrupted, Unjudged, Error> outcome;
    int attempts = 0;
    int refusals = 0;
    Duration waited{};
};

// One job from its first question to its end: waits at the gate, runs the command, looks at how it ended,
// pauses the key and lines up again after a refusal, backs off and tries again after a failure. No wait
// spends a try.
//
// A command that exits 0 succeeded, where successes are counted.
RunResult run(const RunPlan&, Gate&, ChildRunner&, Sleeper&, Events&);

// The same for a job that has passed the gate once: `admitted` is what it answered, and its first attempt.
RunResult run_admitted(const RunPlan&, Gate&, Admitted, ChildRunner&, Sleeper&, Events&);

// Nothing is left to do after the start, so that the command may take this process over, unless it was
// admitted with a lease.
bool nothing_left_to_do(const RunPlan&);

// What the command finds in its environment, for its attempt-th attempt (from 1).
// - JOBTHROTTLE_KEY, _STORE, _TICKET: the first key, the store, and the start as sixteen hex digits
// - JOBTHROTTLE_ATTEMPT, _WAITED: which attempt it is (1, 2, ...), and the seconds waited for the throttle
// - JOBTHROTTLE_COST_KEY: the key whose cost `settle` replaces, where one was given a cost
// - JOBTHROTTLE_LEASES: the starts of this attempt and of those that it runs in, as far as they hold leases,
//   with commas between: a run inside that would wait for one of them is refused
std::vector<std::pair<std::string, std::string>> environment_of(const RunPlan&, int attempt, const Gate&,
                                                                const Admitted&);
// A start as text, and back: sixteen hex digits. The token of `admit --concurrency`.
std::string token_of(StartId);
std::optional<StartId> start_of_token(std::string_view);

// 128 + n for a signal, 127 and 126 for what could not be run.
int exit_code_of(const ChildEnd&);

}  // namespace jobthrottle
