// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>

#include "cli/at_the_gate.hpp"
#include "cli/commands.hpp"
#include "cli/follower.hpp"
#include "cli/print.hpp"
#include "output/json.hpp"
#include "output/wording.hpp"

namespace jobthrottle {

namespace {

// Rounded up to milliseconds, as sleep(1) takes it: "0.375", "inf" for a pause that has no end.
std::string seconds_text(Duration wait) {
    if (is_for_ever(wait)) return "inf";
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    char text[48];
    std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(milliseconds / 1000),
                  static_cast<long long>(milliseconds % 1000));
    return text;
}

// For a place that others hold nothing is known; then it is when it is worth asking again.
Duration wait_told(const Throttled& throttled) {
    const bool unknown = held_by_leases(throttled.answer) || throttled.why == Throttled::Why::crowded;
    return unknown ? std::max(throttled.wait, throttled.answer.wait) : throttled.wait;
}

int not_admitted(const AdmitOptions& options, AtTheGate& job, const Throttled& throttled) {
    const Duration wait = wait_told(throttled);
    if (options.json) {
        print(admit_json({throttled.key, false, false, wait, throttled.waited, throttled.answer}) + "\n");
    } else {
        print(seconds_text(wait) + "\n");
    }
    // The seconds say it all to a caller who did not want to wait.
    if (throttled.why == Throttled::Why::no_wait) return job.ending().throttled_exit();
    return job.ending().of(throttled);
}

// A store that does not see the process has to be told that it lives.
void follow_where_unseen(AtTheGate& job, const Admitted& admission, const Followed& followed) {
    const bool is_seen = !job.gate().store().processes(followed.pid, 0).empty();
    if (is_seen || admission.leases.empty()) return;
    const auto left = leave_keeper(followed, admission.leases, job.gate().opener(job.session().opener()));
    if (!left) job.teller().warning(left.error().message);
}

int admitted(const AdmitOptions& options, AtTheGate& job, const Admitted& admission,
             const std::optional<Followed>& followed) {
    const std::string token = admission.leases.empty() ? "" : token_of(admission.start);
    std::string text = token.empty() ? "" : token + "\n";
    if (options.json) {
        text = admit_json({job.gate().key(), true, admission.unthrottled, Duration::zero(),
                           job.gate().waited(), job.gate().last_answer(), token}) +
               "\n";
    }
    if (!text.empty() && !print(text)) {
        // Nobody could give back what nobody was told of.
        job.gate().attempt_over(admission, false);
        return exit_code_of(ErrorKind::internal);
    }
    if (followed) follow_where_unseen(job, admission, *followed);
    return 0;
}

Ended to_its_end(const AdmitOptions& options) {
    GateOptions wanted;
    wanted.no_wait = options.no_wait;
    wanted.peek = options.peek;
    wanted.ticket = options.ticket;
    wanted.ticket_keep = options.ticket_for;
    wanted.holder = options.follow;
    std::optional<Followed> followed;
    if (options.follow) {
        followed = find_followed(*options.follow);
        if (!followed) {
            return {exit_with(usage_error("--follow '" + std::to_string(*options.follow) +
                                          "': no such process lives here, for example --follow $$")),
                    {}};
        }
    }
    auto opened = AtTheGate::open(options.common, options.limit, options.name, wanted);
    if (!opened) return {exit_with(opened.error()), {}};
    AtTheGate& job = **opened;
    const Admission admission = job.gate().pass();
    if (const auto* yes = std::get_if<Admitted>(&admission))
        return {admitted(options, job, *yes, followed), {}};
    if (const auto* throttled = std::get_if<Throttled>(&admission))
        return {not_admitted(options, job, *throttled), {}};
    if (const auto* interrupted = std::get_if<Interrupted>(&admission))
        return {job.ending().of(*interrupted), interrupted->signal};
    if (const auto* unjudged = std::get_if<Unjudged>(&admission)) return {job.ending().of(*unjudged), {}};
    return {job.ending().of(std::get<Error>(admission)), {}};
}

}  // namespace

int execute(const AdmitOptions& options) {
    return exit_as(to_its_end(options));
}

}  // namespace jobthrottle
