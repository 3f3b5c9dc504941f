// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cli/args_table.hpp"

namespace jobthrottle {

namespace {

constexpr OptionRow k_options[] = {
    {Opt::key, Group::limit, "-k", "--key", "KEY",
     "what is shared: one provider account, one API token, one database; 1 to 480 bytes", "github"},
    {Opt::rate, Group::limit, "-r", "--rate", "N/PERIOD",
     "at most N starts in any PERIOD, evenly spaced: 8/s, 500/min, 10/90s; a burst may stand in it: "
     "10000/d,burst=500. Up to four of different periods, -r 10/s -r 500/min: all hold",
     "8/s"},
    {Opt::allow, Group::limit, "", "--allow", "N", "the rate in two options, with --every: N starts", "80"},
    {Opt::every, Group::limit, "", "--every", "DURATION", "the period of --allow", "1m"},
    {Opt::burst, Group::limit, "", "--burst", "B",
     "an idle key lets B start at once (1); of the rate before it", "5"},
    {Opt::concurrency, Group::limit, "-j", "--concurrency", "N", "at most N run at the same time", "2"},
    {Opt::lock_for, Group::limit, "", "--lock-for", "DURATION",
     "how long a place is kept for a job that is not heard of: run renews it while the command lives (1m), "
     "admit has nobody to renew it (11m)",
     "1m"},
    {Opt::cost, Group::limit, "", "--cost", "W",
     "the job counts as W starts (1): tokens a minute and the like; jobthrottle settle N tells the true cost "
     "from inside",
     "1500"},
    {Opt::count, Group::limit, "", "--count", "WHAT",
     "starts, or successes: a start whose attempt fails is given back; N of the rate up to 2,044 then",
     "successes"},
    {Opt::pause_only, Group::limit, "", "--pause-only", "",
     "no limit of its own: only pauses of the key hold the job"},
    {Opt::override_registered, Group::limit, "", "--override", "",
     "the numbers given here win over what is registered with the key"},
    {Opt::pause_key, Group::limit, "", "--pause-key", "KEY",
     "of several keys the one that a refusal pauses (the first)", "github"},

    {Opt::max_wait, Group::waiting, "-w", "--max-wait", "DURATION",
     "wait at most that long for the throttle, all waits together (1h); 0 or forever", "20m"},
    {Opt::no_wait, Group::waiting, "-n", "--no-wait", "", "do not wait: exit 75 when it cannot start now"},
    {Opt::max_waiting, Group::waiting, "", "--max-waiting", "N",
     "exit 75 at once when N jobs wait for the key already", "10"},
    {Opt::throttled_exit, Group::waiting, "-E", "--throttled-exit", "CODE",
     "the exit code that says throttled, instead of 75", "75"},
    {Opt::notice_after, Group::waiting, "", "--notice-after", "DURATION",
     "say so when a wait is longer than that (5s), then at doubling intervals", "5s"},
    {Opt::ticket, Group::waiting, "", "--ticket", "ID",
     "keep the place in line between calls under this name", "deploy-4312"},
    {Opt::ticket_for, Group::waiting, "", "--ticket-for", "DURATION",
     "how long the ticket is kept after the time it was told (2m)", "2m"},
    {Opt::follow, Group::waiting, "", "--follow", "PID",
     "keep the place of --concurrency for as long as this process lives: --follow $$", "4121"},
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
    {Opt::on_lease_lost, Group::repeating, "", "--on-lease-lost", "WHAT",
     "when the place is lost, for the store was away for longer than --lock-for or another released it: "
     "warn, or kill (end the command, where the store is away before another may have the place; a wrapper "
     "that is stopped ends nothing)",
     "kill"},
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
    {Opt::force, Group::what, "", "--force", "", "also while jobs wait on the key, or run"},
    {Opt::all, Group::what, "", "--all", "", "show all who wait, however many"},
    {Opt::all_leases, Group::what, "", "--all", "", "release every place of the key"},
    {Opt::dead, Group::what, "", "--dead", "", "release the places of jobs that are seen to be dead"},
    {Opt::failed, Group::what, "", "--failed", "",
     "the attempt failed: its start is given back, where --count successes was said"},
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
     "closed (exit 69), auto (local where only rates and pauses are asked, closed where a concurrency is)",
     "local"},
    {Opt::store_patience, Group::store, "", "--store-patience", "DURATION",
     "a job in line asks for that long before the policy holds (60s)", "30s"},
    {Opt::connect_timeout, Group::store, "", "--connect-timeout", "DURATION", "of the store (1s)", "1s"},
    {Opt::command_timeout, Group::store, "", "--command-timeout", "DURATION", "of the store (2s)", "2s"},

    {Opt::quiet, Group::other, "-q", "--quiet", "", "no notices; what fails is always said"},
    {Opt::verbose, Group::other, "-v", "--verbose", "", "tell every step on standard error"},
    {Opt::help, Group::other, "-h", "--help", "", "this text"},
};

constexpr OtherName k_other_option_names[] = {
    {"--retry", "--tries"}, {"--retries", "--tries"}, {"--attempts", "--tries"}, {"--wait", "--max-wait"}};

// What this version does not have.
constexpr LaterRow k_later_options[] = {
    {"--limit", {}, "give --rate"},
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
    {"--watch"},
    {"--for"},
    {"--config"},
};

}  // namespace

std::span<const OptionRow> option_table() {
    return k_options;
}
std::span<const OtherName> other_option_names() {
    return k_other_option_names;
}
std::span<const LaterRow> later_options() {
    return k_later_options;
}

const OptionRow& row_of(Opt id) {
    return *std::find_if(std::begin(k_options), std::end(k_options),
                         [id](const OptionRow& row) { return row.id == id; });
}

}  // namespace jobthrottle
