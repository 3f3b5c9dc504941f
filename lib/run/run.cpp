// SPDX-License-Identifier: MIT
#include "run/run.hpp"

#include <csignal>
#include <utility>

#include "base/text.hpp"
#include "process/standard_input.hpp"
#include "run/lease_keeper.hpp"

namespace jobthrottle {

namespace {

Moment moment_now() {
    return {BootClock::now(), wall_now()};
}

ScannedStream scanned(Stream stream) {
    switch (stream) {
        case Stream::standard_output:
            return ScannedStream::out;
        case Stream::standard_error:
            return ScannedStream::err;
        case Stream::output_and_error:
            break;
    }
    return ScannedStream::both;
}

class ScanningWatcher final : public OutputWatcher {
public:
    explicit ScanningWatcher(RefusalScanner& scanner) : m_scanner(scanner) {}
    void saw(Stream stream, std::string_view bytes) override {
        m_scanner.feed(scanned(stream), bytes, moment_now());
    }

private:
    RefusalScanner& m_scanner;
};

std::int64_t wall_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(wall_now().time_since_epoch()).count();
}

const char* stream_name(Evidence::Source source) {
    switch (source) {
        case Evidence::Source::out:
            return "stdout";
        case Evidence::Source::err:
            return "stderr";
        case Evidence::Source::both:
            return "output";
        case Evidence::Source::exit_code:
            break;
    }
    return "exit code";
}

// One job under way.
class Run {
public:
    Run(const RunPlan& plan, Gate& gate, ChildRunner& runner, Sleeper& sleeper, Events& events)
        : m_plan(plan), m_gate(gate), m_runner(runner), m_sleeper(sleeper), m_events(events) {}

    RunResult to_its_end(Admission first) {
        use(std::move(first));
        while (!m_done)
            use(m_gate.pass());
        m_result.waited = m_gate.waited();
        return std::move(m_result);
    }

private:
    template <typename Outcome>
    void finish(Outcome outcome) {
        m_result.outcome = std::move(outcome);
        m_done = true;
    }

    void use(Admission admission) {
        std::visit([this](auto& outcome) { use(std::move(outcome)); }, admission);
    }
    template <typename Outcome>
    void use(Outcome gave_up_waiting) {
        finish(std::move(gave_up_waiting));
    }
    void use(Admitted admitted) {
        ++m_result.attempts;
        RefusalScanner scanner(m_plan.rules);
        ScanningWatcher watcher(scanner);
        m_gate.store().rest();  // a command may run for hours
        m_events.attempt_begins(m_result.attempts, m_plan.argv.front());
        const auto report = run_command(admitted, watcher);
        if (!report) {
            m_gate.attempt_over(admitted, false);
            finish(report.error());
            return;
        }
        m_events.attempt_ended(m_result.attempts, report->end);
        judge(admitted, *report, scanner);
    }

    Result<ChildReport> run_command(const Admitted& admitted, OutputWatcher& watcher) {
        if (admitted.leases.empty()) return m_runner.run(command(admitted), &watcher, nullptr);
        LeaseKeeper keeper(admitted.leases, m_gate.store(), m_gate.opener(m_plan.open_store),
                           m_plan.on_lease_lost, m_events);
        return m_runner.run(command(admitted), &watcher, &keeper);
    }

    // A pipe that an attempt has read from cannot be given again.
    bool input_is_whole() {
        const auto whole = m_input.put_back();
        return whole && *whole;
    }

    void end_with_half_read_input(Next next, Duration paused) {
        if (next == Next::line_up) {
            finish(RefusedForGood{RefusedForGood::Why::half_read_input, m_note, paused});
            return;
        }
        m_events.warning(m_gate.key().shown() + ": " + escape_for_display(m_plan.name) +
                         " failed and has read from a pipe on its standard input, which cannot be given "
                         "again: it is not run again with half of its input; give it a file instead, as in "
                         "jobthrottle run ... < FILE");
        finish(m_last);
    }

    Command command(const Admitted& admitted) const {
        return {m_plan.argv, environment_of(m_plan, m_result.attempts, m_gate, admitted), m_plan.scan_output,
                m_plan.scan_error, true};
    }

    void judge(const Admitted& admitted, const ChildReport& report, RefusalScanner& scanner) {
        const int code = exit_code_of(report.end);
        const bool started = !std::holds_alternative<NotFound>(report.end) &&
                             !std::holds_alternative<NotExecutable>(report.end);
        const Verdict verdict = started ? scanner.finish({code, moment_now()}) : Verdict{};
        AttemptOutcome outcome = code == 0 ? AttemptOutcome::succeeded : AttemptOutcome::failed;
        if (!started) outcome = AttemptOutcome::not_started;
        if (verdict.refused)
            outcome = code == 0 ? AttemptOutcome::refused_with_success : AttemptOutcome::refused;
        if (verdict.refused) ++m_result.refusals;
        if (outcome == AttemptOutcome::failed) ++m_failed;

        const auto* died = std::get_if<Signaled>(&report.end);
        const bool stopped = report.stop_signal.has_value() || (died != nullptr && died->signal == SIGINT);
        m_last = Ran{report.end, report.output_error};
        // The key is paused before its place is free: who gets that must not be refused in its turn.
        const KeyPause pause = verdict.pause ? pause_key(verdict) : KeyPause{};
        m_gate.attempt_over(admitted, outcome == AttemptOutcome::succeeded);
        go_on(stopped ? Next::finish
                      : next_step(m_plan.job, outcome, m_failed, m_result.refusals,
                                  is_http_client(m_plan.argv.front())),
              verdict, pause);
    }

    struct KeyPause {
        Duration left{};
        bool is_ours = false;  // it ends when this refusal says
    };

    void go_on(Next next, const Verdict& verdict, const KeyPause& pause) {
        const bool again = next == Next::line_up || next == Next::back_off;
        const bool input_lost = again && !input_is_whole();
        const bool lines_up = next == Next::line_up && !input_lost;
        // Where the refusal ends the run, the line about its end tells of it.
        const bool ends_it = next == Next::give_up || (input_lost && next == Next::line_up);
        if (verdict.pause && !ends_it) {
            // Another's longer pause may be by hand, and such a one is waited for.
            const bool outlasts = lines_up && pause.is_ours && pause.left > m_gate.may_still_wait();
            m_events.refused({m_gate.paused_key(), m_note, pause.left, !verdict.ill_formed.empty(),
                              lines_up && !outlasts, outlasts});
        }
        if (input_lost) {
            end_with_half_read_input(next, pause.left);
            return;
        }
        switch (next) {
            case Next::finish:
                finish(m_last);
                break;
            case Next::line_up:
                break;
            case Next::give_up:
                finish(RefusedForGood{m_plan.job.rerun == Rerun::never ? RefusedForGood::Why::rerun_never
                                                                       : RefusedForGood::Why::max_refusals,
                                      m_note, pause.left});
                break;
            case Next::back_off:
                back_off();
                break;
        }
    }

    KeyPause pause_key(const Verdict& verdict) {
        m_note = PauseNote{};
        m_note.summary = verdict.evidence.reason;
        m_note.line = verdict.evidence.line;
        m_note.stream = stream_name(verdict.evidence.source);
        m_note.job = m_plan.name;
        m_note.who = m_plan.who;
        m_note.at_s = wall_seconds();
        PauseRequest request;
        request.length = *verdict.pause;
        request.note = encode(m_note);
        const auto answer = m_gate.pause(request);
        if (!verdict.ill_formed.empty()) {
            m_events.warning("'" + verdict.ill_formed +
                             "' is no delay that can be read: the default pause is used");
        }
        if (!answer) m_events.warning("the store could not be told of the pause: " + answer.error().message);
        return answer ? KeyPause{answer->left, answer->changed} : KeyPause{*verdict.pause, true};
    }

    void back_off() {
        const Duration wait = backoff_after(m_plan.job.backoff, m_failed, random_part());
        m_events.failed_will_retry(
            {m_gate.key(), m_plan.name, m_last.end, m_plan.job.tries - m_failed, wait});
        const BootTime until = m_sleeper.now() + wait;
        while (m_sleeper.now() < until) {
            const Wake wake = m_sleeper.sleep_until(until);
            if (wake.reason != WakeReason::stop_signal) continue;
            finish(Interrupted{wake.signal});
            return;
        }
    }

    const RunPlan& m_plan;
    Gate& m_gate;
    ChildRunner& m_runner;
    Sleeper& m_sleeper;
    Events& m_events;
    StandardInput m_input = StandardInput::look();
    RunResult m_result;
    Ran m_last;
    PauseNote m_note;
    int m_failed = 0;
    bool m_done = false;
};

}  // namespace

RunResult run(const RunPlan& plan, Gate& gate, ChildRunner& runner, Sleeper& sleeper, Events& events) {
    return Run(plan, gate, runner, sleeper, events).to_its_end(gate.pass());
}

RunResult run_admitted(const RunPlan& plan, Gate& gate, Admitted admitted, ChildRunner& runner,
                       Sleeper& sleeper, Events& events) {
    return Run(plan, gate, runner, sleeper, events).to_its_end(std::move(admitted));
}

bool nothing_left_to_do(const RunPlan& plan) {
    return !plan.scan_output && !plan.scan_error && plan.job.rerun == Rerun::never && plan.job.tries == 1 &&
           plan.rules.exit_rules.empty();
}

int exit_code_of(const ChildEnd& end) {
    if (const auto* exited = std::get_if<Exited>(&end)) return exited->code;
    if (const auto* died = std::get_if<Signaled>(&end)) return 128 + died->signal;
    return std::holds_alternative<NotFound>(end) ? 127 : 126;
}

}  // namespace jobthrottle
