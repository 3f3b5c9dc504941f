// SPDX-License-Identifier: MIT
// What the gate does when its store is away.
#include <algorithm>

#include "run/gate_wait.hpp"

namespace jobthrottle {

Result<std::vector<Answer>> Gate::ask_primary_or_fallback(Wait& wait) {
    if (!m_fallback) return m_store.ask(questions_for(wait));
    if (m_sleeper.now() >= m_try_primary_at) {
        Wait anew = wait;
        anew.fresh = false;
        auto answers = m_store.ask(questions_for(anew));
        if (answers) {
            for (const auto& claim : m_options.claims) {
                if (wait.has_place) (void)m_fallback->cancel(claim.key, wait.place);
            }
            m_fallback.reset();
            m_processes.reset();
            wait.has_place = false;
            m_events.store_back(m_store.name());
            return answers;
        }
        // It is back and says no: that is never a reason to go on elsewhere.
        if (answers.error().kind == ErrorKind::refused) return answers;
        m_try_primary_at = m_sleeper.now() + ask_again_after(5, random_part());
    }
    return m_fallback->ask(questions_for(wait));
}

Gate::Outcome Gate::store_failed(Wait& wait, const Error& error) {
    if (wait.failures++ == 0) wait.away_since = m_sleeper.now();
    const bool patient = m_sleeper.now() - wait.away_since < m_options.store_patience;
    if (m_fallback || m_options.no_wait || m_options.peek || !wait.has_place || !patient) {
        return apply_policy(wait, error);
    }
    if (wait.failures == 1) m_events.store_away(m_store.name(), error, std::nullopt);
    const Duration budget = left(wait);
    if (budget <= Duration::zero()) return throttled(wait, Throttled::Why::waited_out);
    return sleep_until(wait,
                       m_sleeper.now() + std::min(budget, ask_again_after(wait.failures, random_part())));
}

Gate::Outcome Gate::apply_policy(Wait& wait, const Error& error) {
    const auto policy = resolve_policy(m_options.on_store_error, wants_concurrency());
    if (m_fallback || policy == OnStoreError::closed) return error;
    if (policy == OnStoreError::open) {
        m_events.store_away(m_store.name(), error, policy);
        if (wait.has_place && m_last) {  // no earlier than the store last said
            if (auto ended = sleep_until(wait, wait.answered + m_last->earliest)) return ended;
        }
        Admitted admitted;
        admitted.unthrottled = true;
        admitted.start = wait.id;
        return admitted;
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
    m_processes.reset();
    m_try_primary_at = m_sleeper.now() + ask_again_after(5, random_part());
    m_events.store_away(m_store.name(), why, OnStoreError::local);
    return {};
}

Result<PauseAnswer> Gate::pause(const PauseRequest& request) {
    auto answer = store().pause(paused_key(), request);
    if (answer) return answer;
    if (answer.error().kind == ErrorKind::unavailable && !m_fallback &&
        resolve_policy(m_options.on_store_error, wants_concurrency()) == OnStoreError::local &&
        open_fallback(answer.error())) {
        (void)m_fallback->pause(paused_key(), request);
    }
    m_untold_pause = request;
    m_untold_pause_until = m_sleeper.now() + request.length;
    return answer;
}

void Gate::tell_untold_pause() {
    if (!m_untold_pause) return;
    m_untold_pause->length = m_untold_pause_until - m_sleeper.now();
    if (m_untold_pause->length <= Duration::zero() || m_store.pause(paused_key(), *m_untold_pause))
        m_untold_pause.reset();
}

// The provider asked to be left alone, and this job at least knows.
Gate::Outcome Gate::wait_own_pause(Wait& wait) {
    if (!m_untold_pause) return std::nullopt;
    Answer answer;
    answer.why = WaitCause::paused;
    answer.paused_for = answer.wait = answer.earliest = m_untold_pause_until - m_sleeper.now();
    answer.terms = m_options.claims[m_options.pause_key].terms;
    m_last_claim = m_options.pause_key;
    m_last = answer;
    wait.answered = m_sleeper.now();
    if (m_options.no_wait) return throttled(wait, Throttled::Why::no_wait);
    if (answer.earliest > left(wait)) return throttled(wait, Throttled::Why::too_long);
    return sleep_until(wait, m_untold_pause_until);
}

}  // namespace jobthrottle
