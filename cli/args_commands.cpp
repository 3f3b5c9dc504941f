// SPDX-License-Identifier: MIT
#include "cli/args_commands.hpp"

#include <cstdint>
#include <limits>

#include "base/text.hpp"
#include "core/attempts.hpp"
#include "core/refusal/retry_after.hpp"
#include "run/run.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr int k_most_tries = 1'000'000;

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

JobOptions job_options(ArgsReader& reader) {
    JobOptions job;
    job.tries = reader.number(Opt::tries, job.tries, 1, k_most_tries);
    job.rerun = reader.one_of<Rerun>(
        Opt::rerun, {{"refused", Rerun::refused}, {"always", Rerun::always}, {"never", Rerun::never}},
        job.rerun);
    if (reader.has(Opt::max_refusals))
        job.max_refusals = reader.number(Opt::max_refusals, 1, 1, k_most_tries);
    if (reader.has(Opt::backoff)) {
        const auto backoff = parse_backoff(reader.text(Opt::backoff));
        if (backoff) job.backoff = *backoff;
        if (!backoff) reader.fail(usage_error("--backoff " + backoff.error().message));
    }
    return job;
}

LimitOptions limit_options(ArgsReader& reader, const Common& common, Duration lock_for) {
    return reader.limit(common.settings.lock_for.value.value_or(lock_for));
}

Options build_run(ArgsReader& reader, const std::vector<std::string>& after) {
    RunOptions run{reader.common(), {}, after, {}, reader.has(Opt::no_wait), job_options(reader), {}, {}, {}};
    run.limit = limit_options(reader, run.common, k_run_lock_for);
    run.name = reader.text(Opt::name, base_name(after.front()));
    run.exit_rules = reader.exit_rules();
    run.scan = reader.one_of<Scan>(Opt::scan,
                                   {{"auto", Scan::automatic},
                                    {"stdout", Scan::out},
                                    {"stderr", Scan::err},
                                    {"both", Scan::both},
                                    {"none", Scan::none}},
                                   run.scan);
    run.on_lease_lost = reader.one_of<OnLeaseLost>(
        Opt::on_lease_lost, {{"warn", OnLeaseLost::warn}, {"kill", OnLeaseLost::kill}}, run.on_lease_lost);
    return run;
}

void take_ticket(ArgsReader& reader, AdmitOptions& admit) {
    constexpr std::size_t k_longest_name = 200;
    admit.ticket_for = reader.duration(Opt::ticket_for, k_caller_keep, 1s);
    if (reader.has(Opt::ticket)) {
        const std::string ticket = reader.text(Opt::ticket);
        if (ticket.empty() || ticket.size() > k_longest_name)
            reader.want(Opt::ticket, ticket, "a name of 1 to 200 bytes");
        admit.ticket = named_ticket(ticket);
    } else if (reader.has(Opt::ticket_for)) {
        reader.fail(
            usage_error("--ticket-for needs a ticket, for example --ticket deploy-4312 --ticket-for 2m"));
    }
}

Options build_admit(ArgsReader& reader, const std::vector<std::string>&) {
    AdmitOptions admit{reader.common(), {}, {}, false, false, false, {}, {}, {}};
    admit.limit = limit_options(reader, admit.common, k_admit_lock_for);
    // There is no command that could tell a truer cost.
    for (Claim& claim : admit.limit.claims)
        claim.settles = false;
    admit.name = reader.text(Opt::name, "admit");
    admit.no_wait = reader.has(Opt::no_wait);
    admit.peek = reader.has(Opt::peek);
    admit.json = reader.has(Opt::json);
    take_ticket(reader, admit);
    if (reader.has(Opt::follow))
        admit.follow = reader.number(Opt::follow, 1, 1, std::numeric_limits<pid_t>::max());
    return admit;
}

StartId token_word(ArgsReader& reader, const std::string& what) {
    const auto word = reader.next_positional();
    const std::string example =
        ", for example jobthrottle " + what + " db 0123456789abcdef (admit --concurrency prints it)";
    if (!word) {
        reader.fail(usage_error("no TOKEN, which says whose place it is" + example));
        return 0;
    }
    const auto token = start_of_token(*word);
    if (!token) reader.fail(usage_error("TOKEN " + in_quotes(*word) + ": want 16 hex digits" + example));
    return token.value_or(0);
}

Options build_renew(ArgsReader& reader, const std::vector<std::string>&) {
    RenewOptions renew{reader.common(), reader.key()};
    renew.token = token_word(reader, "renew");
    renew.lock_for = reader.duration(Opt::lock_for, Duration::zero(), 1s);
    return renew;
}

Options build_release(ArgsReader& reader, const std::vector<std::string>&) {
    using Which = ReleaseOptions::Which;
    ReleaseOptions release{reader.common(), reader.key()};
    const bool all = reader.has(Opt::all_leases);
    const bool dead = reader.has(Opt::dead);
    release.which = all ? Which::all : dead ? Which::dead : Which::one;
    release.failed = reader.has(Opt::failed);
    if (all && dead) reader.fail(usage_error("--all releases the dead, too: give one of --all and --dead"));
    if (release.which == Which::one) {
        release.token = token_word(reader, "release");
    } else if (release.failed) {
        reader.fail(
            usage_error("--failed tells of one attempt, for example jobthrottle release db "
                        "0123456789abcdef --failed"));
    }
    return release;
}

Options build_settle(ArgsReader& reader, const std::vector<std::string>&) {
    SettleOptions settle{reader.common(), {}, 0};
    const auto word = reader.next_positional();
    const std::string wanted = "want the number of starts that this attempt cost, 0 to " +
                               std::to_string(k_most_cost) + ", for example jobthrottle settle 1834";
    if (!word) {
        reader.fail(usage_error("no N: " + wanted));
        return settle;
    }
    const auto cost = *word == "0" ? Result<std::int64_t>(0) : parse_count(*word);
    if (cost && *cost <= k_most_cost) {
        settle.cost = *cost;
    } else {
        reader.fail(usage_error("N " + in_quotes(*word) + ": " + wanted));
    }
    if (reader.has(Opt::key)) settle.key = reader.key();
    return settle;
}

// Seconds that a provider asked for; what is out of bounds is brought into them, as after a refusal.
void take_retry_after(ArgsReader& reader, PauseOptions& pause) {
    const std::string value = reader.text(Opt::retry_after);
    const auto asked = parse_retry_after(value, reader.surroundings().now);
    if (!asked) {
        reader.want(Opt::retry_after, value, "seconds or an HTTP-date");
        return;
    }
    PauseBounds bounds;
    bounds.most = pause.common.settings.max_pause.value;
    pause.length = bounds.pause_for(*asked);
    pause.by_hand = false;
    pause.summary = "Retry-After: " + value;
}

void take_until(ArgsReader& reader, PauseOptions& pause) {
    const std::string text = reader.text(Opt::until);
    const WallTime now = reader.surroundings().now;
    const auto until = parse_when(text, now, reader.surroundings().zone);
    if (!until) {
        reader.fail(usage_error("--until " + until.error().message));
        return;
    }
    const Duration length = *until - now;
    if (length <= Duration::zero() || length > k_longest_duration) {
        reader.want(Opt::until, text,
                    "a time within the next 366 days, and this is " +
                        format_when(*until, reader.surroundings().zone));
        return;
    }
    pause.length = std::max<Duration>(length, 1s);
    pause.until = *until;
}

void take_length(ArgsReader& reader, PauseOptions& pause, const std::string& text) {
    if (text == "forever") return;
    const auto length = parse_duration(text);
    if (length && *length >= 1s) {
        pause.length = *length;
        return;
    }
    reader.fail(usage_error("DURATION '" + escape_for_display(text.substr(0, 60)) +
                            "': want 1s to 366d or forever, for example jobthrottle pause github 10m"));
}

Options build_pause(ArgsReader& reader, const std::vector<std::string>&) {
    PauseOptions pause{reader.common(), reader.key(), {}, true, {}, {}, {}, reader.has(Opt::json)};
    pause.reason = reader.text(Opt::reason);
    const auto length = reader.next_positional();
    const int given = static_cast<int>(length.has_value()) + static_cast<int>(reader.has(Opt::until)) +
                      static_cast<int>(reader.has(Opt::retry_after));
    const std::string example = ", for example jobthrottle pause github 10m";
    if (given == 0) {
        reader.fail(usage_error(
            "how long? want one of DURATION, forever, --until TIME and --retry-after VALUE" + example));
    } else if (given > 1) {
        reader.fail(
            usage_error("that says more than once how long: give one of DURATION, --until and "
                        "--retry-after" +
                        example));
    } else if (length) {
        take_length(reader, pause, *length);
    } else if (reader.has(Opt::until)) {
        take_until(reader, pause);
    } else {
        take_retry_after(reader, pause);
    }
    return pause;
}

Options build_resume(ArgsReader& reader, const std::vector<std::string>&) {
    return ResumeOptions{reader.common(), reader.key(), reader.has(Opt::json)};
}

Options build_register(ArgsReader& reader, const std::vector<std::string>&) {
    RegisterOptions registering{reader.common(), reader.key(), reader.terms(), reader.has(Opt::replace)};
    if (registering.terms.empty())
        reader.fail(
            usage_error("no limit to register, for example jobthrottle register github -r 80/min -j 4"));
    return registering;
}

Options build_unregister(ArgsReader& reader, const std::vector<std::string>&) {
    return UnregisterOptions{reader.common(), reader.key()};
}

Options build_inspect(ArgsReader& reader, const std::vector<std::string>&) {
    return InspectOptions{reader.common(), reader.key(), reader.has(Opt::json), reader.has(Opt::all)};
}

Options build_keys(ArgsReader& reader, const std::vector<std::string>&) {
    Common common = reader.common();
    return KeysOptions{std::move(common), reader.next_positional().value_or("*"), reader.has(Opt::json)};
}

Options build_forget(ArgsReader& reader, const std::vector<std::string>&) {
    return ForgetOptions{reader.common(), reader.key(), reader.has(Opt::force)};
}

}  // namespace

Build builder_of(std::string_view command) {
    struct Row {
        std::string_view name;
        Build build;
    };
    static constexpr Row k_rows[] = {
        {"run", build_run},         {"admit", build_admit},       {"pause", build_pause},
        {"renew", build_renew},     {"release", build_release},   {"settle", build_settle},
        {"resume", build_resume},   {"register", build_register}, {"unregister", build_unregister},
        {"inspect", build_inspect}, {"keys", build_keys},         {"forget", build_forget},
    };
    for (const auto& row : k_rows) {
        if (row.name == command) return row.build;
    }
    return nullptr;
}

}  // namespace jobthrottle
