// SPDX-License-Identifier: MIT
#include "cli/args_table.hpp"

#include <algorithm>

namespace jobthrottle {

namespace {

constexpr OptionRow k_options[] = {
    {Opt::key, Group::limit, "-k", "--key", "KEY",
     "what is shared: one provider account, one API token; 1 to 480 bytes", "github", true},
    {Opt::rate, Group::limit, "-r", "--rate", "N/PERIOD",
     "at most N starts in any PERIOD, evenly spaced: 8/s, 500/min, 10/90s; a burst may stand in it: "
     "10000/d,burst=500",
     "8/s", true},
    {Opt::allow, Group::limit, "", "--allow", "N", "the rate in two options, with --every: N starts", "80",
     true},
    {Opt::every, Group::limit, "", "--every", "DURATION", "the period of --allow", "1m", true},
    {Opt::burst, Group::limit, "", "--burst", "B", "an idle key lets B start at once (1)", "5", true},
    {Opt::pause_only, Group::limit, "", "--pause-only", "",
     "no rate of its own: only pauses of the key hold the job"},
    {Opt::override_registered, Group::limit, "", "--override", "",
     "the numbers given here win over what is registered with the key"},

    {Opt::max_wait, Group::waiting, "-w", "--max-wait", "DURATION",
     "wait at most that long for the throttle, all waits together (1h); 0 or forever", "20m"},
    {Opt::no_wait, Group::waiting, "-n", "--no-wait", "", "do not wait: exit 75 when it cannot start now"},
    {Opt::throttled_exit, Group::waiting, "-E", "--throttled-exit", "CODE",
     "the exit code that says throttled, instead of 75", "75"},
    {Opt::notice_after, Group::waiting, "", "--notice-after", "DURATION",
     "say so when a wait is longer than that (5s), then at doubling intervals", "5s"},
    {Opt::ticket, Group::waiting, "", "--ticket", "ID",
     "keep the place in line between calls under this name", "deploy-4312"},
    {Opt::ticket_for, Group::waiting, "", "--ticket-for", "DURATION",
     "how long the ticket is kept after the time it was told (2m)", "2m"},
    {Opt::peek, Group::waiting, "", "--peek", "", "ask without taking anything: exit 0 or 75"},

    {Opt::tries, Group::repeating, "", "--tries", "N",
     "attempts that may fail (1); waits and refusals spend none", "3"},
    {Opt::backoff, Group::repeating, "", "--backoff", "SPEC",
     "waits between tries: a range (1s..60s), a list (1s,10s,60s) or one wait", "1s..60s"},
    {Opt::rerun, Group::repeating, "", "--rerun", "WHICH",
     "run refused attempts again: refused (those that failed, and HTTP clients), always, never", "never"},
    {Opt::max_refusals, Group::repeating, "", "--max-refusals", "N", "give up, 75, after so many refusals",
     "5"},
    {Opt::pause_on_exit, Group::repeating, "", "--pause-on-exit", "CODE[=DURATION]",
     "this exit code says that the provider refused; may be given more than once", "254=5s"},
    {Opt::scan, Group::repeating, "", "--scan", "STREAMS",
     "where to look for refusals (429 heads and the like): auto, stdout, stderr, both, none", "stdout"},
    {Opt::max_pause, Group::repeating, "", "--max-pause", "DURATION",
     "the longest pause that a refusal makes (24h)", "1h"},
    {Opt::default_pause, Group::repeating, "", "--default-pause", "DURATION",
     "the pause where a refusal names none (60s)", "1m"},

    {Opt::until, Group::what, "", "--until", "TIME",
     "pause until 14:30, 2026-11-30T14:30:00+01:00, @1796049000 or an HTTP-date; local without a zone",
     "14:30"},
    {Opt::retry_after, Group::what, "", "--retry-after", "VALUE",
     "pause as a provider's Retry-After asks: seconds or an HTTP-date", "120"},
    {Opt::reason, Group::what, "", "--reason", "TEXT", "why; shown by inspect and to those who wait",
     "maintenance"},
    {Opt::replace, Group::what, "", "--replace", "", "register other numbers than those that are there"},
    {Opt::force, Group::what, "", "--force", "", "also while jobs wait on the key"},
    {Opt::all, Group::what, "", "--all", "", "show all who wait, however many"},
    {Opt::json, Group::what, "", "--json", "", "print JSON"},
    {Opt::name, Group::what, "", "--name", "NAME",
     "the job's name in the waiting list (the command's base name, or admit)", "nightly"},

    {Opt::store, Group::store, "", "--store", "URL",
     "where the state is kept: local:, local:/PATH, redis://HOST[:PORT][/DB], unix:///PATH; a password "
     "belongs in JOBTHROTTLE_PASSWORD",
     "redis://localhost"},
    {Opt::prefix, Group::store, "", "--prefix", "NAME", "keeps applications apart in one store", "billing"},
    {Opt::on_store_error, Group::store, "", "--on-store-error", "POLICY",
     "when the store is away: local (throttle on this machine until it is back), open (run unthrottled), "
     "closed (exit 69), auto (local where, as in this version, only rates and pauses are asked)",
     "local"},
    {Opt::store_patience, Group::store, "", "--store-patience", "DURATION",
     "a job in line asks for that long before the policy holds (60s)", "30s"},
    {Opt::connect_timeout, Group::store, "", "--connect-timeout", "DURATION", "of the store (1s)", "1s"},
    {Opt::command_timeout, Group::store, "", "--command-timeout", "DURATION", "of the store (2s)", "2s"},

    {Opt::quiet, Group::other, "-q", "--quiet", "", "no notices; what fails is always said"},
    {Opt::verbose, Group::other, "-v", "--verbose", "", "tell every step on standard error"},
    {Opt::help, Group::other, "-h", "--help", "", "this text"},
};

constexpr Opt k_run_options[] = {Opt::key,
                                 Opt::rate,
                                 Opt::allow,
                                 Opt::every,
                                 Opt::burst,
                                 Opt::pause_only,
                                 Opt::override_registered,
                                 Opt::max_wait,
                                 Opt::no_wait,
                                 Opt::throttled_exit,
                                 Opt::notice_after,
                                 Opt::tries,
                                 Opt::backoff,
                                 Opt::rerun,
                                 Opt::max_refusals,
                                 Opt::pause_on_exit,
                                 Opt::scan,
                                 Opt::max_pause,
                                 Opt::default_pause,
                                 Opt::name,
                                 Opt::store,
                                 Opt::prefix,
                                 Opt::on_store_error,
                                 Opt::store_patience,
                                 Opt::connect_timeout,
                                 Opt::command_timeout,
                                 Opt::quiet,
                                 Opt::verbose,
                                 Opt::help};
constexpr Opt k_admit_options[] = {Opt::key,
                                   Opt::rate,
                                   Opt::allow,
                                   Opt::every,
                                   Opt::burst,
                                   Opt::pause_only,
                                   Opt::override_registered,
                                   Opt::max_wait,
                                   Opt::no_wait,
                                   Opt::throttled_exit,
                                   Opt::notice_after,
                                   Opt::ticket,
                                   Opt::ticket_for,
                                   Opt::peek,
                                   Opt::json,
                                   Opt::name,
                                   Opt::store,
                                   Opt::prefix,
                                   Opt::on_store_error,
                                   Opt::store_patience,
                                   Opt::connect_timeout,
                                   Opt::command_timeout,
                                   Opt::quiet,
                                   Opt::verbose,
                                   Opt::help};
constexpr Opt k_pause_options[] = {
    Opt::key,   Opt::until,   Opt::retry_after, Opt::max_pause,       Opt::reason,
    Opt::json,  Opt::store,   Opt::prefix,      Opt::connect_timeout, Opt::command_timeout,
    Opt::quiet, Opt::verbose, Opt::help};
constexpr Opt k_register_options[] = {
    Opt::key,     Opt::rate,    Opt::allow,  Opt::every,           Opt::burst,
    Opt::replace, Opt::store,   Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
    Opt::quiet,   Opt::verbose, Opt::help};
constexpr Opt k_key_options[] = {
    Opt::key,   Opt::store,   Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
    Opt::quiet, Opt::verbose, Opt::help};
constexpr Opt k_key_json_options[] = {
    Opt::key,   Opt::json,    Opt::store, Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
    Opt::quiet, Opt::verbose, Opt::help};
constexpr Opt k_inspect_options[] = {
    Opt::key,   Opt::all,     Opt::json, Opt::store, Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
    Opt::quiet, Opt::verbose, Opt::help};
constexpr Opt k_keys_options[] = {
    Opt::json,  Opt::store,   Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
    Opt::quiet, Opt::verbose, Opt::help};
constexpr Opt k_forget_options[] = {Opt::key,    Opt::force,           Opt::store,
                                    Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
                                    Opt::quiet,  Opt::verbose,         Opt::help};

constexpr CommandRow k_commands[] = {
    {"run", "-k KEY [-r N/PERIOD] [OPTION]... -- COMMAND [ARG]...",
     "Waits until the key lets the command start, runs it, and exits with its code. An attempt that the "
     "provider refused pauses the key and is run again without spending a try.",
     k_run_options, true,
     "  jobthrottle run -k github -r 80/min -- gh api /user\n"
     "  jobthrottle run -k acme -r 5/s -- curl -fsS https://api.acme.io/v1/items\n",
     "The command finds in its environment JOBTHROTTLE_KEY, JOBTHROTTLE_ATTEMPT (1, 2, ...) and "
     "JOBTHROTTLE_WAITED (seconds). While it waits, the signal USR1 (kill -USR1 PID) prints a line that says "
     "how it stands."},
    {"admit", "KEY [-r N/PERIOD] [OPTION]...",
     "The gate alone, for scripts: waits for a start and exits 0. With --no-wait it exits 75 at once where "
     "it "
     "cannot start, and prints the seconds to wait.",
     k_admit_options, false,
     "  jobthrottle admit acme -r 5/s && curl -fsS https://api.acme.io/v1/items\n"
     "  jobthrottle admit acme -r 5/s --no-wait --ticket \"$id\" || exit 75\n"},
    {"pause", "KEY DURATION|forever [OPTION]...",
     "Holds every job of the key, and prints what is left of the pause. A shorter pause never cuts a longer "
     "one; resume does.",
     k_pause_options, false,
     "  jobthrottle pause github 10m --reason 'rotating the token'\n"
     "  jobthrottle pause github --until 14:30\n"},
    {"resume", "KEY [OPTION]...", "Ends the pause of a key; those who wait start at the key's rate.",
     k_key_json_options, false, "  jobthrottle resume github\n"},
    {"register", "KEY -r N/PERIOD [OPTION]...",
     "Keeps the limit with the key in the store, so that every process needs only the key. Other numbers of "
     "the same period hold where they are stricter.",
     k_register_options, false, "  jobthrottle register github -r 80/min\n"},
    {"unregister", "KEY [OPTION]...", "Drops what is registered with a key.", k_key_options, false,
     "  jobthrottle unregister github\n"},
    {"inspect", "KEY [OPTION]...",
     "Why is my job waiting? Limits, starts in the window, pause and waiting list of a key. Exits 1 for a "
     "key "
     "that is not known.",
     k_inspect_options, false, "  jobthrottle inspect github\n"},
    {"keys", "[PATTERN] [OPTION]...",
     "Every key with live state, a registration or a recent pause, one line each. PATTERN is a glob: *, ? "
     "and [a-z], quoted from the shell.",
     k_keys_options, false, "  jobthrottle keys 'aws:*'\n"},
    {"forget", "KEY [OPTION]...",
     "Drops window, pause and waiting list of a key, never what is registered. While jobs wait it lists them "
     "and exits 1.",
     k_forget_options, false, "  jobthrottle forget acme\n"},
};

constexpr OtherName k_other_option_names[] = {
    {"--retry", "--tries"}, {"--retries", "--tries"}, {"--attempts", "--tries"}, {"--wait", "--max-wait"}};

constexpr OtherName k_other_command_names[] = {
    {"-V", "--version"},   {"version", "--version"}, {"ls", "keys"},      {"list", "keys"},
    {"status", "inspect"}, {"show", "inspect"},      {"exec", "run"},     {"wait", "admit"},
    {"unpause", "resume"}, {"rm", "forget"},         {"delete", "forget"}};

constexpr LaterRow k_later_options[] = {
    {"--limit", {}, "give --rate"},
    {"--concurrency", "-j", {}},
    {"--lock-for"},
    {"--cost"},
    {"--count"},
    {"--timeout"},
    {"--kill-after"},
    {"--stdin"},
    {"--output"},
    {"--match"},
    {"--provider"},
    {"--report"},
    {"--mailer"},
    {"--retry-on"},
    {"--retry-until"},
    {"--max-waiting"},
    {"--pause-key"},
    {"--on-lease-lost"},
    {"--follow"},
    {"--watch"},
    {"--for"},
    {"--config"},
};

constexpr std::string_view k_later_commands[] = {"refused", "explain", "config",  "fake",
                                                 "doctor",  "renew",   "release", "completion"};

}  // namespace

std::span<const CommandRow> command_table() {
    return k_commands;
}
std::span<const OptionRow> option_table() {
    return k_options;
}
std::span<const OtherName> other_option_names() {
    return k_other_option_names;
}
std::span<const OtherName> other_command_names() {
    return k_other_command_names;
}
std::span<const LaterRow> later_options() {
    return k_later_options;
}
std::span<const std::string_view> later_commands() {
    return k_later_commands;
}

const OptionRow& row_of(Opt id) {
    return *std::find_if(std::begin(k_options), std::end(k_options),
                         [id](const OptionRow& row) { return row.id == id; });
}

const CommandRow* find_command(std::string_view name) {
    for (const auto& command : k_commands) {
        if (command.name == name) return &command;
    }
    return nullptr;
}

const OptionRow* find_option(const CommandRow& command, std::string_view word) {
    if (word.empty()) return nullptr;
    for (const Opt id : command.options) {
        const OptionRow& row = row_of(id);
        if (word == row.name || word == row.letter) return &row;
    }
    return nullptr;
}

}  // namespace jobthrottle
