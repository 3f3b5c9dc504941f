// SPDX-License-Identifier: MIT
#include "cli/teller.hpp"

#include <algorithm>

#include "cli/log.hpp"
#include "cli/machine.hpp"
#include "cli/print.hpp"
#include "core/duration.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

constexpr Duration k_live_interval = 1s;
constexpr Duration k_least_interval = 10ms;
constexpr Duration k_nothing_to_say = 1h;
// A sleep longer than this holds no connection.
constexpr Duration k_short_sleep = 1s;

// What fits on one line, in whole characters: a byte that continues one is never the first cut off.
std::string cut(std::string text, std::size_t width) {
    std::size_t columns = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
        if (begins && columns++ == width) {
            text.resize(i);
            break;
        }
    }
    return text;
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

std::optional<PauseNote> Teller::pause_note(const Answer& answer) {
    if (m_gate == nullptr || answer.paused_for <= Duration::zero()) return std::nullopt;
    if (!m_note) {
        const auto report = m_gate->store().inspect(m_limit.key);
        m_note = report ? report->note : std::nullopt;
        if (answer.wait > k_short_sleep) m_gate->store().rest();
    }
    return *m_note;
}

std::optional<Registration> Teller::registration() {
    if (m_gate == nullptr) return std::nullopt;
    const auto registered = m_gate->store().registration(m_limit.key);
    return registered ? *registered : std::nullopt;
}

Duration Teller::since_begin() const {
    return m_began ? BootClock::now() - *m_began : Duration::zero();
}

Line Teller::line_of(const WaitStatus& status) {
    if (!status.asked)
        return say_not_answered(status.key, m_gate == nullptr ? "" : m_gate->store().name(), status.waited);
    WaitView view{status.key, status.answer, BootClock::now() - status.answered, status.waited,
                  {},         local_now()};
    view.note = pause_note(status.answer);
    return say_waiting(view);
}

void Teller::waiting(const WaitStatus& status) {
    m_last_waited = status.waited;
    if (!m_began) {
        m_began = BootClock::now();
        m_next_notice = m_notice_after;
        m_note.reset();
    }
    if (debug_log_is_on()) {
        debug("waiting for " + status.key.shown() + ": asks again after " +
              format_duration_exactly(status.answer.wait) + ", may start in " +
              format_duration_exactly(status.answer.earliest) + ", " + std::to_string(status.answer.ahead) +
              " ahead");
    }
    if (m_quiet || since_begin() < m_next_notice) return;
    if (error_is_terminal()) {
        show_live(status);
        return;
    }
    notice(line_of(status));
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
    const auto width = static_cast<std::size_t>(std::max(2, error_width())) - 1;
    say_raw("\r" + cut(render(line_of(status), true), width) + "\x1b[K");
    m_live = true;
}

void Teller::clear_live() {
    if (m_live) say_raw("\r\x1b[K");
    m_live = false;
}

void Teller::wait_over() {
    clear_live();
    if (m_session != nullptr) m_session->say_news();
    if (debug_log_is_on() && m_began) debug("the wait took " + format_duration_exactly(since_begin()));
    m_began.reset();
}

void Teller::refused(const RefusalNotice& refusal) {
    notice(say_refused({refusal.key, refusal.note, refusal.pause, local_now()}, refusal.ill_formed,
                       refusal.lines_up_again));
}

void Teller::other_numbers(const Key& key, const Answer& answer) {
    notice(say_other_numbers(key, m_limit.rate, answer, registration()));
}

void Teller::state_lost(const Key& key) {
    notice(say_state_lost(key, m_last_waited));
}

void Teller::store_away(const std::string& store, const Error& error, std::optional<OnStoreError> policy) {
    notice(say_store_away(store, error, policy));
}

void Teller::store_back(const std::string& store) {
    notice(say_store_back(store));
}

void Teller::failed_will_retry(int tries_left, Duration backoff) {
    notice(say_retrying(tries_left, backoff));
}

void Teller::warning(const std::string& text) {
    notice(say_warning(text));
}

}  // namespace jobthrottle
