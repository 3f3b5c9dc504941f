// SPDX-License-Identifier: MIT
// What is done with an attempt under way from outside: renew, release, settle.
#include <cstdlib>

#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "cli/session.hpp"
#include "run/run.hpp"

namespace jobthrottle {

namespace {

constexpr int k_not_held_exit = 75;

int not_held(const Key& key, const LeaseAnswer& answer) {
    const bool was_lost = answer.state == LeaseState::lost;
    say(was_lost ? say_lost(key, answer.lost_for, k_not_held_exit) : say_not_held(key, k_not_held_exit));
    return k_not_held_exit;
}

int release_several(const ReleaseOptions& options, Session& session) {
    const bool only_dead = options.which == ReleaseOptions::Which::dead;
    const auto released = session.store().release_leases(options.key, only_dead);
    if (!released) return session.exit_with(released.error());
    return print(released_text(*released)) ? 0 : exit_code_of(ErrorKind::internal);
}

// Not empty.
std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

// Of the attempt that this program runs in.
struct Attempt {
    Key key;
    StartId start = 0;
};
std::optional<Attempt> attempt_around(const SettleOptions& options) {
    const auto token = variable("JOBTHROTTLE_TICKET");
    const auto start = token ? start_of_token(*token) : std::nullopt;
    if (!start) return std::nullopt;
    if (options.key) return Attempt{*options.key, *start};
    auto name = variable("JOBTHROTTLE_COST_KEY");
    if (!name) name = variable("JOBTHROTTLE_KEY");
    const auto key = Key::make(name.value_or(""));
    if (!key) return std::nullopt;
    return Attempt{*key, *start};
}

}  // namespace

int execute(const RenewOptions& options) {
    auto session = Session::open(options.common, Purpose::tend);
    if (!session) return exit_with(session.error());
    const auto answer = session->store().renew(options.key, {options.token, options.lock_for, {}});
    if (!answer) return session->exit_with(answer.error());
    if (answer->state == LeaseState::retaken && !options.common.quiet)
        say(say_lease_retaken(options.key, answer->lost_for));
    const bool is_held = answer->state == LeaseState::held || answer->state == LeaseState::retaken;
    return is_held ? 0 : not_held(options.key, *answer);
}

int execute(const ReleaseOptions& options) {
    auto session = Session::open(options.common, Purpose::tend);
    if (!session) return exit_with(session.error());
    if (options.which != ReleaseOptions::Which::one) return release_several(options, *session);
    const auto answer = session->store().release(options.key, {options.token, options.failed});
    if (!answer) return session->exit_with(answer.error());
    return answer->state == LeaseState::held ? 0 : not_held(options.key, *answer);
}

int execute(const SettleOptions& options) {
    const auto attempt = attempt_around(options);
    if (!attempt) {
        return exit_with(usage_error(
            "settle tells what the attempt cost that it is called from, and here is none, for example "
            "jobthrottle run -k acme -r 90k/min --cost 1500 -- sh -c './eval.py; jobthrottle settle 1834'"));
    }
    auto session = Session::open(options.common, Purpose::tend);
    if (!session) return exit_with(session.error());
    const auto answer = session->store().settle(attempt->key, {attempt->start, options.cost});
    if (!answer) return session->exit_with(answer.error());
    if (answer->state != LeaseState::unknown) return 0;
    say(say_not_settled(attempt->key, k_not_held_exit));
    return k_not_held_exit;
}

}  // namespace jobthrottle
