// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/at_the_gate.hpp"
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "output/json.hpp"

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

int not_admitted(const AdmitOptions& options, AtTheGate& job, const Throttled& throttled) {
    if (options.json) {
        print(admit_json(
                  {options.limit.key, false, false, throttled.wait, throttled.waited, throttled.answer}) +
              "\n");
    } else {
        print(seconds_text(throttled.wait) + "\n");
    }
    // The seconds say it all to a caller who did not want to wait.
    if (throttled.why == Throttled::Why::no_wait) return job.ending().throttled_exit();
    return job.ending().of(throttled);
}

int admitted(const AdmitOptions& options, AtTheGate& job, const Admitted& admission) {
    if (!options.json) return 0;
    const bool printed = print(admit_json({options.limit.key, true, admission.unthrottled, Duration::zero(),
                                           job.gate().waited(), job.gate().last_answer()}) +
                               "\n");
    return printed ? 0 : exit_code_of(ErrorKind::internal);
}

Ended to_its_end(const AdmitOptions& options) {
    GateOptions wanted;
    wanted.no_wait = options.no_wait;
    wanted.peek = options.peek;
    wanted.ticket = options.ticket;
    wanted.ticket_keep = options.ticket_for;
    auto opened = AtTheGate::open(options.common, options.limit, options.name, wanted);
    if (!opened) return {exit_with(opened.error()), {}};
    AtTheGate& job = **opened;
    const Admission admission = job.gate().pass();
    if (const auto* yes = std::get_if<Admitted>(&admission)) return {admitted(options, job, *yes), {}};
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
