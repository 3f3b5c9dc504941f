// SPDX-License-Identifier: MIT
#include "run/run.hpp"

#include <csignal>
#include <cstdio>

#include "base/text.hpp"
#include "process/standard_input.hpp"

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

    RunResult to_its_end() {
        while (!m_done)
            one_attempt();
        m_result.waited = m_gate.waited();
        return std::move(m_result);
    }

private:
    template <typename Outcome>
    void finish(Outcome outcome) {
        m_result.outcome = std::move(outcome);
        m_done = true;
    }

    void one_attempt() {
        Admission admission = m_gate.pass();
        if (!std::holds_alternative<Admitted>(admission)) {
            std::visit([this](auto& other) { give_up_waiting(std::move(other)); }, admission);
            return;
        }
        ++m_result.attempts;
        RefusalScanner scanner(m_plan.rules);
        ScanningWatcher watcher(scanner);
        m_gate.store().rest();  // a command may run for hours
        m_events.attempt_begins(m_result.attempts, m_plan.argv.front());
        const auto report = m_runner.run(command(), &watcher);
        if (report) m_events.attempt_ended(m_result.attempts, report->end);
        if (!report) {
            finish(report.error());
            return;
        }
        judge(*report, scanner);
    }

    void give_up_waiting(Admitted) {}
    template <typename Outcome>
    void give_up_waiting(Outcome outcome) {
        finish(std::move(outcome));
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
        m_events.warning(m_plan.key.shown() + ": " + escape_for_display(m_plan.name) +
                         " failed and has read from a pipe on its standard input, which cannot be given "
                         "again: it is not run again with half of its input; give it a file instead, as in "
                         "jobthrottle run ... < FILE");
        finish(m_last);
    }

    Command command() const {
        return {m_plan.argv, environment_of(m_plan, m_result.attempts, m_gate), m_plan.scan_output,
                m_plan.scan_error};
    }

    void judge(const ChildReport& report, RefusalScanner& scanner) {
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
        go_on(stopped ? Next::finish
                      : next_step(m_plan.job, outcome, m_failed, m_result.refusals,
                                  is_http_client(m_plan.argv.front())),
              verdict);
    }

    void go_on(Next next, const Verdict& verdict) {
        const bool again = next == Next::line_up || next == Next::back_off;
        const bool input_lost = again && !input_is_whole();
        const bool lines_up = next == Next::line_up && !input_lost;
        const KeyPause pause = verdict.pause ? pause_key(verdict) : KeyPause{};
        // Where the refusal ends the run, the line about its end tells of it.
        const bool ends_it = next == Next::give_up || (input_lost && next == Next::line_up);
        if (verdict.pause && !ends_it) {
            // Another's longer pause may be by hand, and such a one is waited for.
            const bool outlasts = lines_up && pause.is_ours && pause.left > m_gate.may_still_wait();
            m_events.refused({m_plan.key, m_note, pause.left, !verdict.ill_formed.empty(),
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

    struct KeyPause {
        Duration left{};
        bool is_ours = false;  // it ends when this refusal says
    };
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
        m_events.failed_will_retry({m_plan.key, m_plan.name, m_last.end, m_plan.job.tries - m_failed, wait});
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
    return Run(plan, gate, runner, sleeper, events).to_its_end();
}

bool nothing_left_to_do(const RunPlan& plan) {
    return !plan.scan_output && !plan.scan_error && plan.job.rerun == Rerun::never && plan.job.tries == 1 &&
           plan.rules.exit_rules.empty();
}

std::vector<std::pair<std::string, std::string>> environment_of(const RunPlan& plan, int attempt,
                                                                const Gate& gate) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f", std::chrono::duration<double>(gate.waited()).count());
    return {{"JOBTHROTTLE_KEY", plan.key.bytes()},
            {"JOBTHROTTLE_TICKET", std::to_string(gate.place())},
            {"JOBTHROTTLE_ATTEMPT", std::to_string(attempt)},
            {"JOBTHROTTLE_WAITED", seconds},
            {"JOBTHROTTLE_STORE", plan.store_url}};
}

int exit_code_of(const ChildEnd& end) {
    if (const auto* exited = std::get_if<Exited>(&end)) return exited->code;
    if (const auto* died = std::get_if<Signaled>(&end)) return 128 + died->signal;
    return std::holds_alternative<NotFound>(end) ? 127 : 126;
}

}  // namespace jobthrottle
