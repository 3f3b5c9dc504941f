// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "core/job_options.hpp"
#include "core/key.hpp"
#include "core/refusal/scanner.hpp"
#include "core/terms.hpp"
#include "core/ticket.hpp"
#include "run/claim.hpp"

// What the user asked for: one struct per command, every value checked.
namespace jobthrottle {

struct Common {
    Settings settings;
    bool quiet = false;
    bool verbose = false;
};

struct LimitOptions {
    std::vector<Claim> claims;  // at least one
    std::size_t pause_key = 0;  // the claim whose key a refusal pauses
    std::optional<std::int64_t> max_waiting;

    const Claim& of(const Key&) const;  // the first where there is none
};

// How long a place lasts without a renewal: run renews it, a script that was admitted may not.
constexpr Duration k_run_lock_for = std::chrono::seconds{60};
constexpr Duration k_admit_lock_for = std::chrono::seconds{660};

enum class Scan { automatic, out, err, both, none };

struct RunOptions {
    Common common;
    LimitOptions limit;
    std::vector<std::string> argv;  // never empty
    std::string name;
    bool no_wait = false;
    JobOptions job;
    std::vector<ExitRule> exit_rules;
    Scan scan = Scan::automatic;
    OnLeaseLost on_lease_lost = OnLeaseLost::warn;
};

struct AdmitOptions {
    Common common;
    LimitOptions limit;
    std::string name;
    bool no_wait = false;
    bool peek = false;
    bool json = false;
    std::optional<TicketId> ticket;
    Duration ticket_for = k_caller_keep;
    std::optional<pid_t> follow;  // the process that the lease lasts as long as
};

struct RenewOptions {
    Common common;
    Key key;
    StartId token = 0;
    Duration lock_for{};  // zero: what it was taken for
};

struct ReleaseOptions {
    enum class Which { one, all, dead };
    Common common;
    Key key;
    Which which = Which::one;
    StartId token = 0;
    bool failed = false;  // with one: the attempt is given back where successes are counted
};

struct SettleOptions {
    Common common;
    std::optional<Key> key;  // none: the one whose cost was guessed
    std::int64_t cost = 0;
};

struct PauseOptions {
    Common common;
    Key key;
    std::optional<Duration> length;  // none: for ever
    bool by_hand = true;             // false: what a provider asked for, by --retry-after
    std::string summary;             // of what the provider said
    std::string reason;
    std::optional<WallTime> until;  // as --until named it
    bool json = false;
};

struct ResumeOptions {
    Common common;
    Key key;
    bool json = false;
};

struct RegisterOptions {
    Common common;
    Key key;
    Terms terms;  // not empty
    bool replace = false;
};

struct UnregisterOptions {
    Common common;
    Key key;
};

struct InspectOptions {
    Common common;
    Key key;
    bool json = false;
    bool all = false;  // of the waiting list
};

struct KeysOptions {
    Common common;
    std::string pattern;
    bool json = false;
};

struct ForgetOptions {
    Common common;
    Key key;
    bool force = false;
};

// --help and --version: a text for standard output.
struct ShowText {
    std::string text;
};

using Options = std::variant<ShowText, RunOptions, AdmitOptions, RenewOptions, ReleaseOptions, SettleOptions,
                             PauseOptions, ResumeOptions, RegisterOptions, UnregisterOptions, InspectOptions,
                             KeysOptions, ForgetOptions>;

}  // namespace jobthrottle
