// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdlib>

#include "cli/at_the_gate.hpp"
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "process/process_runner.hpp"
#include "process/replace.hpp"

namespace jobthrottle {

namespace {

RunPlan plan_of(const RunOptions& options, AtTheGate& job) {
    RunPlan plan;
    plan.job = options.job;
    plan.argv = options.argv;
    plan.store_url = job.session().url_for_command();
    plan.name = options.name;
    plan.who = job.who();
    plan.on_lease_lost = options.on_lease_lost;
    plan.open_store = job.session().opener();
    const Scan scan = options.scan;
    plan.rules.bounds.most = options.common.settings.max_pause.value;
    plan.rules.bounds.fallback = options.common.settings.default_pause.value;
    plan.rules.exit_rules = options.exit_rules;
    plan.rules.message_on_err = scan == Scan::err || scan == Scan::both;
    plan.scan_output = scan == Scan::automatic || scan == Scan::out || scan == Scan::both;
    plan.scan_error =
        scan == Scan::err || scan == Scan::both || (scan == Scan::automatic && !error_is_terminal());
    return plan;
}

// A terminal is the command's own, so nothing on it can be read.
void warn_of_terminals(Scan scan, Teller& teller) {
    const bool out = (scan == Scan::out || scan == Scan::both) && output_is_terminal();
    const bool err = (scan == Scan::err || scan == Scan::both) && error_is_terminal();
    if (!out && !err) return;
    const std::string what = out && err ? "standard output and error are"
                             : out      ? "standard output is"
                                        : "standard error is";
    teller.warning("--scan: " + what + " a terminal, which is left to the command: no refusal is seen there");
}

// With nothing left to do after the start the command takes this process over, unless it holds a lease.
RunResult become(const RunPlan& plan, AtTheGate& job, ChildRunner& runner) {
    Gate& gate = job.gate();
    Admission admission = gate.pass();
    auto* admitted = std::get_if<Admitted>(&admission);
    if (admitted != nullptr && !admitted->leases.empty())
        return run_admitted(plan, gate, std::move(*admitted), runner, job.sleeper(), job.teller());
    RunResult result;
    result.waited = gate.waited();
    std::visit(
        [&](auto& outcome) {
            if constexpr (std::is_same_v<std::decay_t<decltype(outcome)>, Admitted>) {
                job.teller().attempt_begins(1, plan.argv.front());
                Command command;
                command.argv = plan.argv;
                command.extra_environment = environment_of(plan, 1, gate, outcome);
                result.outcome = Ran{replace_process(command), 0};
            } else {
                result.outcome = std::move(outcome);
            }
        },
        admission);
    return result;
}

// What the command calls in its turn has to find the same keys.
void pass_prefix_on(const Settings& settings) {
    if (settings.prefix.given_by == "--prefix")
        (void)setenv("JOBTHROTTLE_PREFIX", settings.prefix.value.c_str(), 1);
}

Ended to_its_end(const RunOptions& options) {
    GateOptions wanted;
    wanted.no_wait = options.no_wait;
    wanted.holder = getpid();
    pass_prefix_on(options.common.settings);
    auto opened = AtTheGate::open(options.common, options.limit, options.name, wanted);
    if (!opened) return {exit_with(opened.error()), {}};
    AtTheGate& job = **opened;
    warn_of_terminals(options.scan, job.teller());
    const RunPlan plan = plan_of(options, job);
    ProcessRunner runner(job.inbox());
    const RunResult result = nothing_left_to_do(plan)
                                 ? become(plan, job, runner)
                                 : run(plan, job.gate(), runner, job.sleeper(), job.teller());
    const int code = job.ending().of(result, plan.argv.front());
    return {code, job.ending().died_of()};
}

}  // namespace

int execute(const RunOptions& options) {
    return exit_as(to_its_end(options));
}

}  // namespace jobthrottle
