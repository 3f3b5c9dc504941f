// SPDX-License-Identifier: MIT
#include "cli/args_table.hpp"

#include <algorithm>

namespace jobthrottle {

namespace {

constexpr Opt k_run_options[] = {Opt::key,
                                 Opt::rate,
                                 Opt::allow,
                                 Opt::every,
                                 Opt::burst,
                                 Opt::concurrency,
                                 Opt::lock_for,
                                 Opt::cost,
                                 Opt::count,
                                 Opt::pause_only,
                                 Opt::override_registered,
                                 Opt::pause_key,
                                 Opt::max_wait,
                                 Opt::no_wait,
                                 Opt::max_waiting,
                                 Opt::throttled_exit,
                                 Opt::notice_after,
                                 Opt::tries,
                                 Opt::backoff,
                                 Opt::rerun,
                                 Opt::max_refusals,
                                 Opt::pause_on_exit,
                                 Opt::on_lease_lost,
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
                                   Opt::concurrency,
                                   Opt::lock_for,
                                   Opt::cost,
                                   Opt::count,
                                   Opt::pause_only,
                                   Opt::override_registered,
                                   Opt::max_wait,
                                   Opt::no_wait,
                                   Opt::max_waiting,
                                   Opt::throttled_exit,
                                   Opt::notice_after,
                                   Opt::ticket,
                                   Opt::ticket_for,
                                   Opt::follow,
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
    Opt::key,     Opt::rate,  Opt::allow,  Opt::every,           Opt::burst,           Opt::concurrency,
    Opt::replace, Opt::store, Opt::prefix, Opt::connect_timeout, Opt::command_timeout, Opt::quiet,
    Opt::verbose, Opt::help};
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
constexpr Opt k_renew_options[] = {Opt::key,    Opt::lock_for,        Opt::store,
                                   Opt::prefix, Opt::connect_timeout, Opt::command_timeout,
                                   Opt::quiet,  Opt::verbose,         Opt::help};
constexpr Opt k_release_options[] = {
    Opt::key,    Opt::failed,          Opt::all_leases,      Opt::dead,  Opt::store,
    Opt::prefix, Opt::connect_timeout, Opt::command_timeout, Opt::quiet, Opt::verbose,
    Opt::help};

constexpr CommandRow k_commands[] = {
    {"run", "-k KEY [-r N/PERIOD] [-j N] [OPTION]... -- COMMAND [ARG]...",
     "Waits until the key lets the command start, runs it, and exits with its code. An attempt that the "
     "provider refused pauses the key and is run again without spending a try.",
     k_run_options, true,
     "  jobthrottle run -k github -r 80/min -- gh api /user\n"
     "  jobthrottle run -k db -j 2 -- ./etl.sh\n"
     "  jobthrottle run -k rpm -r 60/min -k tpm -r 90k/min --cost 1500 -- ./eval.py\n",
     "With several keys the command starts when all of them let it; the limit options (--rate, --burst, "
     "--concurrency, --lock-for, --cost, --count, --pause-only, --override) belong to the --key before them. "
     "With one key their order is free. The command finds in its environment JOBTHROTTLE_KEY, "
     "JOBTHROTTLE_ATTEMPT (1, 2, ...) and "
     "JOBTHROTTLE_WAITED (seconds). While it waits, the signal USR1 (kill -USR1 PID) prints a line that says "
     "how it stands."},
    {"admit", "KEY [-r N/PERIOD] [-j N] [OPTION]...",
     "The gate alone, for scripts: waits for a start and exits 0. With --no-wait it exits 75 at once where "
     "it cannot start, and prints the seconds to wait; where a place is held, whose end nobody knows, "
     "those until it is worth asking again. With --concurrency it prints a token for release and renew, one "
     "for all keys; each key is released and renewed by a call of its own.",
     k_admit_options, false,
     "  jobthrottle admit acme -r 5/s && curl -fsS https://api.acme.io/v1/items\n"
     "  jobthrottle admit acme -r 5/s --no-wait --ticket \"$id\" || exit 75\n"
     "  tok=$(jobthrottle admit db -j 2) && trap 'jobthrottle release db \"$tok\"' EXIT\n"
     "  jobthrottle admit db -j 2 --follow $$\n",
     "With several keys, each by --key, it is admitted when all of them let it; the limit options (--rate, "
     "--burst, --concurrency, --lock-for, --cost, --count, --pause-only, --override) belong to the --key "
     "before them."},
    {"renew", "KEY TOKEN [OPTION]...",
     "Keeps the place of an admit on this key for longer, from now. One that had run out is taken again "
     "where there is "
     "room; exits 75 where there is none.",
     k_renew_options, false, "  jobthrottle renew db \"$tok\" --lock-for 1h\n"},
    {"release", "KEY TOKEN|--all|--dead [OPTION]...",
     "Gives the place of an admit on this key back, so that the next may start. Exits 75 where it was not "
     "held any more.",
     k_release_options, false,
     "  jobthrottle release db \"$tok\"\n"
     "  for k in b1 b2; do jobthrottle release $k \"$tok\"; done\n"
     "  jobthrottle release db --dead\n"},
    {"settle", "N [OPTION]...",
     "From inside a command that runs with --cost: it counts as N starts, not as was guessed. N from 0, and "
     "may end in k or M.",
     k_key_options, false, "  jobthrottle settle 1834\n"},
    {"pause", "KEY DURATION|forever [OPTION]...",
     "Holds every job of the key, and prints what is left of the pause. A shorter pause never cuts a longer "
     "one; resume does.",
     k_pause_options, false,
     "  jobthrottle pause github 10m --reason 'rotating the token'\n"
     "  jobthrottle pause github --until 14:30\n"},
    {"resume", "KEY [OPTION]...", "Ends the pause of a key; those who wait start at the key's rate.",
     k_key_json_options, false, "  jobthrottle resume github\n"},
    {"register", "KEY [-r N/PERIOD]... [-j N] [OPTION]...",
     "Keeps the limits with the key in the store, so that every process needs only the key. What a job "
     "brings besides holds, too: of one period, and of -j, the stricter; a rate of another period stands "
     "beside it.",
     k_register_options, false,
     "  jobthrottle register github -r 80/min\n"
     "  jobthrottle register db -j 4\n"},
    {"unregister", "KEY [OPTION]...", "Drops what is registered with a key.", k_key_options, false,
     "  jobthrottle unregister github\n"},
    {"inspect", "KEY [OPTION]...",
     "Why is my job waiting? Limits, starts in the window, who holds a place, pause and waiting list of a "
     "key. Exits 1 for a key that is not known.",
     k_inspect_options, false, "  jobthrottle inspect github\n"},
    {"keys", "[PATTERN] [OPTION]...",
     "Every key with live state, a registration or a recent pause, one line each. PATTERN is a glob: *, ? "
     "and [a-z], quoted from the shell.",
     k_keys_options, false, "  jobthrottle keys 'aws:*'\n"},
    {"forget", "KEY [OPTION]...",
     "Drops window, pause, places and waiting list of a key, never what is registered. While jobs wait or "
     "hold a place it lists them and exits 1.",
     k_forget_options, false, "  jobthrottle forget acme\n"},
};

constexpr OtherName k_other_command_names[] = {
    {"-V", "--version"},   {"version", "--version"}, {"ls", "keys"},    {"list", "keys"},
    {"status", "inspect"}, {"show", "inspect"},      {"exec", "run"},   {"wait", "admit"},
    {"unpause", "resume"}, {"unlock", "release"},    {"lock", "admit"}, {"rm", "forget"},
    {"delete", "forget"}};

constexpr std::string_view k_later_commands[] = {"refused", "explain", "config",
                                                 "fake",    "doctor",  "completion"};

}  // namespace

std::span<const CommandRow> command_table() {
    return k_commands;
}
std::span<const OtherName> other_command_names() {
    return k_other_command_names;
}
std::span<const std::string_view> later_commands() {
    return k_later_commands;
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
