// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle {

// Which attempts are run again without spending a try.
enum class Rerun {
    refused,  // those that the provider refused; one that exited 0 only where the command is an HTTP client
    always,   // every refused one
    never,    // none: the run ends with 75
};

// What to do with a command whose lease was lost while it ran (--on-lease-lost).
enum class OnLeaseLost {
    warn,  // say so; it goes on, and its lease is taken again where there is room
    kill,  // end it before the lease could be given to another
};

// Waits between tries. A list gives them in order, the last one repeating. Otherwise they double from `first`
// up to `most` and each is drawn evenly from zero up to that ("full jitter").
struct Backoff {
    Duration first = std::chrono::seconds{1};
    Duration most = std::chrono::seconds{60};
    std::vector<Duration> list;
};
// "1s..60s", "5s", "1s,10s,60s", "0". Error (usage) as parse_duration gives it.
Result<Backoff> parse_backoff(std::string_view text);
// The wait after the failed-th failure (from 1); `draw` is even over 0 .. 1.
Duration backoff_after(const Backoff&, int failed, double draw);

struct JobOptions {
    int tries = 1;  // attempts that may fail, at least 1; refused ones do not count
    Backoff backoff;
    Rerun rerun = Rerun::refused;
    std::optional<int> max_refusals;  // refusals after which the run ends with 75
};

// What one attempt came to.
enum class AttemptOutcome {
    succeeded,
    failed,
    not_started,           // cannot be found or executed: no further attempt can do better
    refused,               // the provider said "too many requests"; exit code not 0
    refused_with_success,  // so it said, and the command still exited 0
};

enum class Next {
    finish,    // the run ends as the attempt did
    line_up,   // back to the end of the line; no try is spent
    back_off,  // a try is spent; wait, then back to the line
    give_up,   // refused and not to be repeated: 75
};

// REQUIRES: failed and refusals count this attempt.
Next next_step(const JobOptions&, AttemptOutcome, int failed, int refusals, bool http_client);

// curl, wget, http, https, xh, gh: they exit 0 on a refusal unless told otherwise.
bool is_http_client(std::string_view program);

// What a job without a place does when the store is away.
enum class OnStoreError { automatic, local, open, closed };
// `automatic`: local where only rates are asked, closed where a concurrency is: a mutex must not open.
OnStoreError resolve_policy(OnStoreError, bool with_concurrency);

// How long to wait before asking a store again that has been away `failures` times in a row: 0.2 to 5 s, with
// `draw` (0 .. 1) spreading the waiters.
Duration ask_again_after(int failures, double draw);

}  // namespace jobthrottle
