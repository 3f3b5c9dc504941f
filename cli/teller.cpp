// SPDX-License-Identifier: MIT
#include "cli/teller.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/log.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "core/duration.hpp"
#include "output/columns.hpp"
#include "output/wall_clock.hpp"
#include "run/run.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr Duration k_live_interval = 1s;
constexpr Duration k_least_interval = 10ms;
constexpr Duration k_nothing_to_say = 1h;
// A sleep longer than this holds no connection.
constexpr Duration k_short_sleep = 1s;

// Room for what the terminal itself shows of Ctrl-C, which must not begin a new line.
constexpr int k_echo = 2;

// "1.99 s": as near as one wants to know it, and to be read at a glance.
std::string exact_text(Duration length) {
    if (is_for_ever(length)) return "no end";
    if (length >= 1min) return format_duration(length);
    char text[32];
    const double seconds = std::chrono::duration<double>(length).count();
    std::snprintf(text, sizeof text, "%.*f s", length >= 1s || length <= 0s ? 2 : 3, seconds);
    return text;
}

std::string end_text(const ChildEnd& end) {
    if (const auto* exited = std::get_if<Exited>(&end)) return "exited with " + std::to_string(exited->code);
    if (const auto* died = std::get_if<Signaled>(&end))
        return "was ended by signal " + std::to_string(died->signal);
    return "could not be run";
}

}  // namespace

Teller::Teller(const Common& common, const LimitOptions& limit)
    : m_quiet(common.quiet), m_notice_after(common.settings.notice_after.value), m_limit(limit) {}

void Teller::tell(const Line& line) {
    clear_live();
    say(line);
}

void Teller::notice(const Line& line) {
    if (!m_quiet) tell(line);
}

std::optional<PauseNote> Teller::pause_note(const Key& key, const Answer& answer) {
    if (m_gate == nullptr || answer.paused_for <= Duration::zero()) return std::nullopt;
    if (!m_note || !(m_note->key == key)) {
        const auto report = m_gate->store().inspect(key);
        m_note = KnownNote{key, report ? report->note : std::nullopt};
        if (answer.wait > k_short_sleep) m_gate->store().rest();
    }
    return m_note->note;
}

std::optional<Registration> Teller::registration(const Key& key) {
    if (m_gate == nullptr) return std::nullopt;
    const auto registered = m_gate->store().registration(key);
    return registered ? *registered : std::nullopt;
}

Duration Teller::since_begin() const {
    return m_began ? BootClock::now() - *m_began : Duration::zero();
}

WaitView Teller::view_of(const WaitStatus& status) {
    WaitView view{status.key, status.answer, BootClock::now() - status.answered, status.waited,
                  {},         local_now()};
    view.note = pause_note(status.key, status.answer);
    return view;
}

Line Teller::line_of(const WaitStatus& status) {
    if (!status.asked)
        return say_not_answered(status.key, m_gate == nullptr ? "" : m_gate->store().name(), status.waited);
    return say_waiting(view_of(status));
}

// What was seen and by whom is said once.
Line Teller::next_notice(const WaitStatus& status) {
    if (!status.asked) return line_of(status);
    WaitView view = view_of(status);
    if (m_told_evidence) view.note.reset();
    m_told_evidence = m_told_evidence || view.note.has_value();
    return say_waiting(view);
}

void Teller::answered(const Key& key, const Answer& answer) {
    if (!debug_log_is_on()) return;
    const std::string asked = "asked " + m_gate->store().name() + " for " + key.shown() + ": ";
    switch (answer.kind) {
        case AnswerKind::start:
            debug(asked + (answer.wait > Duration::zero() ? "may start in " + exact_text(answer.wait)
                                                          : "may start now"));
            return;
        case AnswerKind::wait:
            debug(asked + "has to wait, may start in " + exact_text(answer.earliest) + ", " +
                  std::to_string(answer.ahead) + " ahead; asks again in " + exact_text(answer.wait));
            return;
        case AnswerKind::no_limit:
            debug(asked + "no limit");
            return;
        case AnswerKind::too_costly:
            debug(asked + "it costs more than a limit ever allows");
            return;
        case AnswerKind::nested:
            debug(asked + "a run around this one holds a place");
            return;
        case AnswerKind::crowded:
            debug(asked + std::to_string(answer.waiting) + " wait already");
            return;
        case AnswerKind::conflict:
            break;
    }
    debug(asked + "more than four limits with those registered");
}

void Teller::waiting(const WaitStatus& status) {
    if (!m_began) {
        m_began = BootClock::now();
        m_next_notice = m_notice_after;
        m_note.reset();
        m_told_evidence = false;
    }
    if (m_quiet || since_begin() < m_next_notice) return;
    if (error_is_terminal()) {
        show_live(status);
        return;
    }
    notice(next_notice(status));
    while (m_next_notice <= since_begin())
        m_next_notice = std::max<Duration>(2 * m_next_notice, 1s);
}

Duration Teller::waiting_interval() const {
    if (m_quiet) return k_nothing_to_say;
    const Duration left = m_next_notice - since_begin();
    if (left > Duration::zero()) return std::max(left, k_least_interval);
    return k_live_interval;
}

void Teller::status(const WaitStatus& status) {
    tell(line_of(status));
}

void Teller::show_live(const WaitStatus& status) {
    const int width = std::max(1, error_width() - 1 - k_echo);
    say_raw("\r" +
            (status.asked ? live_line(view_of(status), width)
                          : cut_at_word(render(line_of(status), true), width)) +
            "\x1b[K");
    m_live = true;
}

void Teller::clear_live() {
    if (m_live) say_raw("\r\x1b[K");
    m_live = false;
}

void Teller::wait_over() {
    clear_live();
    if (m_session != nullptr) m_session->say_news();
    if (debug_log_is_on() && m_began) debug("the wait took " + exact_text(since_begin()));
    m_began.reset();
}

void Teller::attempt_begins(int attempt, const std::string& program) {
    if (debug_log_is_on()) debug("attempt " + std::to_string(attempt) + ": starting " + program);
}

void Teller::attempt_ended(int attempt, const ChildEnd& end) {
    if (debug_log_is_on()) debug("attempt " + std::to_string(attempt) + ": the command " + end_text(end));
}

void Teller::refused(const RefusalNotice& refusal) {
    if (refusal.outlasts_wait) {  // told by the one line that says that it is not run again
        m_note = KnownNote{refusal.key, refusal.note};
        return;
    }
    notice(say_refused({refusal.key, refusal.note, refusal.pause, local_now()}, refusal.ill_formed,
                       refusal.lines_up_again));
}

void Teller::other_numbers(const Key& key, const Answer& answer) {
    notice(say_other_numbers(key, m_limit.of(key).terms, answer, registration(key)));
}

void Teller::state_lost(const Key& key, Duration waited) {
    notice(say_state_lost(key, waited));
}

void Teller::lease_lost(const Key& key, Duration lost_for, bool killed) {
    const Line line = say_lease_lost(key, lost_for, killed);
    // That it is ended is the reason of how it ends.
    killed ? tell(line) : notice(line);
}

void Teller::lease_retaken(const Key& key, Duration lost_for) {
    notice(say_lease_retaken(key, lost_for));
}

void Teller::store_away(const std::string& store, const Error& error, std::optional<OnStoreError> policy) {
    notice(say_store_away(store, error, policy));
}

void Teller::store_back(const std::string& store) {
    notice(say_store_back(store));
}

void Teller::failed_will_retry(const FailureNotice& failure) {
    const auto* died = std::get_if<Signaled>(&failure.end);
    notice(say_retrying({failure.key, failure.job, exit_code_of(failure.end),
                         died != nullptr ? died->signal : 0, failure.tries_left, failure.backoff}));
}

void Teller::warning(const std::string& text) {
    notice(say_warning(text));
}

}  // namespace jobthrottle
