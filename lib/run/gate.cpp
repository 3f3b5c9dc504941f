// SPDX-License-Identifier: MIT
#include "run/gate.hpp"

#include <algorithm>
#include <random>

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

// A start this much later than it was given is not used: others may have counted on the spacing.
constexpr Duration k_too_late = 250ms;
// On a link where every reply is that late, the start is used all the same.
constexpr int k_late_starts = 3;
constexpr Duration k_farewell = 100ms;
// A sleep longer than this holds no connection.
constexpr Duration k_short_sleep = 1s;
constexpr Duration k_for_ever = std::chrono::hours{24 * 366 * 100};

std::mt19937_64& generator() {
    static std::mt19937_64 engine{std::random_device{}() | std::uint64_t{std::random_device{}()} << 32};
    return engine;
}

}  // namespace

std::uint64_t random_id() {
    return generator()() & ~k_named_ticket_bit;
}
double random_part() {
    return std::uniform_real_distribution<double>{0, 1}(generator());
}

struct Gate::Wait {
    StartId id = random_id();
    TicketId place = 0;
    bool fresh = true;
    bool has_place = false;  // the store has said "wait" to this place
    std::int64_t birth_us = 0;
    BootTime began{};
    BootTime answered{};
    int late_starts = 0;
    int failures = 0;  // of the store, in a row
    BootTime away_since{};
};

Gate::Gate(Key key, GateOptions options, Store& store, OpenFallback fallback, Sleeper& sleeper,
           Events& events)
    : m_key(std::move(key)),
      m_options(std::move(options)),
      m_store(store),
      m_open_fallback(std::move(fallback)),
      m_sleeper(sleeper),
      m_events(events) {}

Admission Gate::pass() {
    Wait wait;
    wait.place = m_place = m_options.ticket.value_or(random_id());
    wait.began = m_sleeper.now();
    tell_untold_pause();
    Outcome outcome = wait_own_pause(wait);
    while (!outcome)
        outcome = ask_once(wait);
    m_waited = waited_now(wait);
    m_events.wait_over();
    return *std::move(outcome);
}

Gate::Outcome Gate::ask_once(Wait& wait) {
    if (const auto signal = m_sleeper.stop_signal()) return interrupted(wait, *signal);
    const BootTime asked = m_sleeper.now();
    const auto answer = ask_primary_or_fallback(wait);
    if (!answer) {
        wait.fresh = false;  // it may have counted all the same
        if (const auto signal = m_sleeper.stop_signal()) return interrupted(wait, *signal);
        // A signal that ends no wait (USR1) cut the question short.
        if (answer.error().kind == ErrorKind::interrupted) return std::nullopt;
        if (answer.error().kind != ErrorKind::unavailable) return answer.error();
        return store_failed(wait, answer.error());
    }
    if (wait.failures > 0 && !m_fallback) m_events.store_back(m_store.name());
    wait.failures = 0;
    wait.fresh = true;
    m_last = *answer;
    wait.answered = m_sleeper.now();
    m_events.answered(m_key, *answer);
    tell_differences(wait, *answer);
    return use_answer(wait, *answer, asked);
}

Gate::Outcome Gate::use_answer(Wait& wait, const Answer& answer, BootTime asked) {
    switch (answer.kind) {
        case AnswerKind::no_limit:
        case AnswerKind::conflict:
            return Unjudged{answer};
        case AnswerKind::start:
            return use_start(wait, answer, asked);
        case AnswerKind::wait:
            break;
    }
    return line_up(wait, answer, wait.answered);
}

Gate::Outcome Gate::use_start(Wait& wait, const Answer& answer, BootTime asked) {
    if (m_options.peek) return Admitted{};
    wait.has_place = false;
    if (answer.wait > Duration::zero()) {
        if (auto ended = sleep_until(wait, m_sleeper.now() + answer.wait)) return ended;
    }
    const bool late = m_sleeper.now() - (asked + answer.wait) > k_too_late;
    if (!late || wait.late_starts == k_late_starts) return Admitted{};
    ++wait.late_starts;
    wait.id = random_id();
    return std::nullopt;
}

Gate::Outcome Gate::line_up(Wait& wait, const Answer& answer, BootTime answered) {
    if (m_options.peek) return throttled(wait, Throttled::Why::no_wait, answer);
    if (m_options.no_wait) {
        const bool over = m_options.ticket && left(wait) < answer.earliest && !answer.paused_by_hand;
        if (over) give_place_back(wait);
        return throttled(wait, over ? Throttled::Why::too_long : Throttled::Why::no_wait, answer);
    }
    wait.has_place = true;
    wait.birth_us = answer.birth_us;
    const Duration budget = left(wait);
    // Somebody may lift a pause by hand, so that one is waited for as long as max_wait lets us.
    if (answer.earliest > budget && !answer.paused_by_hand) {
        give_place_back(wait);
        return throttled(wait, Throttled::Why::too_long, answer);
    }
    if (answer.wait > k_short_sleep) store().rest();
    const bool bound = answer.wait > budget;
    if (auto ended = sleep_until(wait, answered + std::min(answer.wait, budget))) return ended;
    if (!bound) return std::nullopt;
    give_place_back(wait);
    return throttled(wait, Throttled::Why::waited_out, answer);
}

Result<Answer> Gate::ask_primary_or_fallback(Wait& wait) {
    if (!m_fallback) return m_store.ask(m_key, question_for(wait));
    if (m_sleeper.now() >= m_try_primary_at) {
        Wait anew = wait;
        anew.fresh = false;
        auto answer = m_store.ask(m_key, question_for(anew));
        if (answer) {
            if (wait.has_place) (void)m_fallback->cancel(m_key, wait.place);
            m_fallback.reset();
            wait.has_place = false;
            m_events.store_back(m_store.name());
            return answer;
        }
        // It is back and says no: that is never a reason to go on elsewhere.
        if (answer.error().kind == ErrorKind::refused) return answer;
        m_try_primary_at = m_sleeper.now() + ask_again_after(5, random_part());
    }
    return m_fallback->ask(m_key, question_for(wait));
}

Gate::Outcome Gate::store_failed(Wait& wait, const Error& error) {
    if (wait.failures++ == 0) wait.away_since = m_sleeper.now();
    const bool patient = m_sleeper.now() - wait.away_since < m_options.store_patience;
    if (m_fallback || m_options.no_wait || m_options.peek || !wait.has_place || !patient) {
        return apply_policy(wait, error);
    }
    if (wait.failures == 1) m_events.store_away(m_store.name(), error, std::nullopt);
    const Duration budget = left(wait);
    if (budget <= Duration::zero())
        return throttled(wait, Throttled::Why::waited_out, m_last.value_or(Answer{}));
    return sleep_until(wait,
                       m_sleeper.now() + std::min(budget, ask_again_after(wait.failures, random_part())));
}

Gate::Outcome Gate::apply_policy(Wait& wait, const Error& error) {
    const auto policy = resolve_policy(m_options.on_store_error);
    if (m_fallback || policy == OnStoreError::closed) return error;
    if (policy == OnStoreError::open) {
        m_events.store_away(m_store.name(), error, policy);
        if (wait.has_place && m_last) {  // no earlier than the store last said
            if (auto ended = sleep_until(wait, wait.answered + m_last->earliest)) return ended;
        }
        return Admitted{true};
    }
    if (const auto opened = open_fallback(error); !opened) return opened.error();
    wait.has_place = false;
    wait.failures = 0;
    wait.id = random_id();
    wait.fresh = true;
    return std::nullopt;
}

Result<void> Gate::open_fallback(const Error& why) {
    auto opened = m_open_fallback();
    if (!opened) {
        return unavailable_error(why.message +
                                 "; and this machine's own store cannot be used: " + opened.error().message);
    }
    m_fallback = std::move(*opened);
    m_try_primary_at = m_sleeper.now() + ask_again_after(5, random_part());
    m_events.store_away(m_store.name(), why, OnStoreError::local);
    return {};
}

Gate::Outcome Gate::sleep_until(Wait& wait, BootTime due) {
    for (;;) {
        m_events.waiting(status_of(wait));
        const BootTime until = std::min(due, m_sleeper.now() + m_events.waiting_interval());
        const Wake wake = m_sleeper.sleep_until(until);
        if (wake.reason == WakeReason::stop_signal) return interrupted(wait, wake.signal);
        if (wake.reason == WakeReason::status_wanted) m_events.status(status_of(wait));
        if (m_sleeper.now() >= due) return std::nullopt;
    }
}

Result<PauseAnswer> Gate::pause(const PauseRequest& request) {
    auto answer = store().pause(m_key, request);
    if (answer) return answer;
    if (answer.error().kind == ErrorKind::unavailable && !m_fallback &&
        resolve_policy(m_options.on_store_error) == OnStoreError::local && open_fallback(answer.error())) {
        (void)m_fallback->pause(m_key, request);
    }
    m_untold_pause = request;
    m_untold_pause_until = m_sleeper.now() + request.length;
    return answer;
}

void Gate::tell_untold_pause() {
    if (!m_untold_pause) return;
    m_untold_pause->length = m_untold_pause_until - m_sleeper.now();
    if (m_untold_pause->length <= Duration::zero() || m_store.pause(m_key, *m_untold_pause))
        m_untold_pause.reset();
}

// The provider asked to be left alone, and this job at least knows.
Gate::Outcome Gate::wait_own_pause(Wait& wait) {
    if (!m_untold_pause) return std::nullopt;
    Answer answer;
    answer.why = WaitCause::paused;
    answer.paused_for = answer.wait = answer.earliest = m_untold_pause_until - m_sleeper.now();
    answer.rate = m_options.rate;
    m_last = answer;
    wait.answered = m_sleeper.now();
    if (m_options.no_wait) return throttled(wait, Throttled::Why::no_wait, answer);
    if (answer.earliest > left(wait)) return throttled(wait, Throttled::Why::too_long, answer);
    return sleep_until(wait, m_untold_pause_until);
}

void Gate::tell_differences(const Wait& wait, const Answer& answer) {
    const bool judged = answer.kind == AnswerKind::start || answer.kind == AnswerKind::wait;
    if (!judged) return;
    // Who brings no numbers has none that could differ.
    const bool held_to_registered = answer.registered && answer.rate != m_options.rate;
    if (!m_told_numbers && m_options.rate && (answer.other_rate || held_to_registered)) {
        m_told_numbers = true;
        m_events.other_numbers(m_key, answer);
    }
    if (!m_told_lost && wait.has_place && wait.birth_us != answer.birth_us) {
        m_told_lost = true;
        m_events.state_lost(m_key, waited_now(wait));
    }
}

Throttled Gate::throttled(Wait& wait, Throttled::Why why, const Answer& answer) {
    const Duration since_answer = m_sleeper.now() - wait.answered;
    return {why, answer, std::max(Duration::zero(), answer.earliest - since_answer), waited_now(wait)};
}

Interrupted Gate::interrupted(Wait& wait, int signal) {
    give_place_back(wait);
    return {signal};
}

void Gate::give_place_back(Wait& wait) {
    if (!wait.has_place && wait.fresh && !m_options.ticket) return;
    store().hurry(k_farewell);
    (void)store().cancel(m_key, wait.place);
    wait.has_place = false;
}

Question Gate::question_for(const Wait& wait) const {
    Question question;
    question.id = wait.id;
    question.place = wait.place;
    question.fresh = wait.fresh;
    question.rate = m_options.rate;
    question.pause_only = m_options.pause_only;
    question.override_registered = m_options.override_registered;
    question.who = m_options.who;
    question.caller = m_options.no_wait && m_options.ticket.has_value();
    question.keep = m_options.ticket ? m_options.ticket_keep : k_runner_keep;
    if (m_options.no_wait && !m_options.ticket) question.taking = Taking::start;
    if (m_options.peek) question.taking = Taking::nothing;
    return question;
}

WaitStatus Gate::status_of(const Wait& wait) const {
    return {m_key, m_last.value_or(Answer{}), wait.answered, waited_now(wait), m_last.has_value()};
}

Duration Gate::waited_now(const Wait& wait) const {
    const Duration here = m_waited + (m_sleeper.now() - wait.began);
    return m_options.ticket && m_last ? std::max(here, m_last->waited) : here;
}

Duration Gate::may_still_wait() const {
    if (m_options.no_wait) return Duration::zero();
    if (!m_options.max_wait) return k_for_ever;
    return std::max(Duration::zero(), *m_options.max_wait - m_waited);
}

Duration Gate::left(const Wait& wait) const {
    if (!m_options.max_wait) return k_for_ever;
    return std::max(Duration::zero(), *m_options.max_wait - waited_now(wait));
}

}  // namespace jobthrottle
