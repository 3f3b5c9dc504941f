// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "core/job_options.hpp"
#include "core/key.hpp"
#include "core/rate.hpp"
#include "core/refusal/scanner.hpp"
#include "core/ticket.hpp"

// What the user asked for: one struct per command, every value checked.
namespace jobthrottle {

struct Common {
    Settings settings;
    bool quiet = false;
    bool verbose = false;
};

struct LimitOptions {
    Key key;
    std::optional<Rate> rate;
    bool pause_only = false;
    bool override_registered = false;
};

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
    Rate rate;
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

using Options = std::variant<ShowText, RunOptions, AdmitOptions, PauseOptions, ResumeOptions, RegisterOptions,
                             UnregisterOptions, InspectOptions, KeysOptions, ForgetOptions>;

}  // namespace jobthrottle
