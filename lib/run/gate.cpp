// SPDX-License-Identifier: MIT
#include "run/gate.hpp"

#include <algorithm>
#include <random>

#include "core/duration.hpp"
#include "run/gate_wait.hpp"

namespace jobthrottle {

namespace {

using namespace std::chrono_literals;

// A start this much later than it was given is not used: others may have counted on the spacing.
constexpr Duration k_too_late = 250ms;
// On a link where every reply is that late, the start is used all the same.
constexpr int k_late_starts = 3;
constexpr Duration k_farewell = 100ms;
// Two keys that hold a job up for times closer than this are told apart by what holds them.
constexpr Duration k_about_the_same = 100ms;
// A sleep longer than this holds no connection, nor does one of those further back in line: a key with
// thousands of waiters has a few dozen connections.
constexpr Duration k_short_sleep = 1s;
constexpr std::int64_t k_connected = 32;
// A lease that its holder has not heard of.
constexpr Duration k_unconfirmed = 5s;
// A start this far ahead is slept towards without a connection: none is needed before the attempt ends.
constexpr Duration k_short_grant = 5ms;
constexpr Duration k_for_ever = std::chrono::hours{24 * 366 * 100};

std::mt19937_64& generator() {
    thread_local std::mt19937_64 engine{std::random_device{}() | std::uint64_t{std::random_device{}()} << 32};
    return engine;
}

// The answer that says how things stand for the job: a refusal, else that of the key that holds it up
// longest; of those about as long the one whose end is not known.
std::size_t deciding(const std::vector<Answer>& answers) {
    const auto refused = [](const Answer& answer) {
        return answer.kind != AnswerKind::start && answer.kind != AnswerKind::wait;
    };
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (refused(answers[i])) return i;
        const Answer& best = answers[chosen];
        const bool by_lease = answers[i].why == WaitCause::lease && best.why != WaitCause::lease;
        const Duration margin = by_lease ? -k_about_the_same : Duration::zero();
        if (answers[i].earliest > best.earliest + margin) chosen = i;
    }
    return chosen;
}

}  // namespace

std::uint64_t random_id() {
    return generator()() & ~k_named_ticket_bit;
}
double random_part() {
    return std::uniform_real_distribution<double>{0, 1}(generator());
}

Gate::Gate(GateOptions options, Store& store, OpenFallback fallback, Sleeper& sleeper, Events& events)
    : m_options(std::move(options)),
      m_store(store),
      m_open_fallback(std::move(fallback)),
      m_sleeper(sleeper),
      m_events(events),
      m_told_numbers(m_options.claims.size()) {}

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
    const auto answers = ask_primary_or_fallback(wait);
    if (!answers) {
        wait.fresh = false;  // it may have counted all the same
        if (const auto signal = m_sleeper.stop_signal()) return interrupted(wait, *signal);
        // A signal that ends no wait (USR1) cut the question short.
        if (answers.error().kind == ErrorKind::interrupted) return std::nullopt;
        if (answers.error().kind != ErrorKind::unavailable) return answers.error();
        return store_failed(wait, answers.error());
    }
    if (wait.failures > 0 && !m_fallback) m_events.store_back(m_store.name());
    wait.failures = 0;
    wait.fresh = true;
    m_last_claim = deciding(*answers);
    m_last = (*answers)[m_last_claim];
    m_at_once = std::any_of(answers->begin(), answers->end(),
                            [](const Answer& answer) { return answer.terms.concurrency().has_value(); });
    wait.answered = m_sleeper.now();
    m_events.answered(m_options.claims[m_last_claim].key, *m_last);
    tell_differences(wait, *answers);
    return use_answers(wait, *answers, asked);
}

Gate::Outcome Gate::use_answers(Wait& wait, const std::vector<Answer>& answers, BootTime asked) {
    switch (m_last->kind) {
        case AnswerKind::no_limit:
        case AnswerKind::conflict:
        case AnswerKind::too_costly:
        case AnswerKind::nested:
            give_place_back(wait);
            return Unjudged{m_options.claims[m_last_claim].key, *m_last};
        case AnswerKind::crowded:
            return throttled(wait, Throttled::Why::crowded);
        case AnswerKind::start:
            return use_start(wait, answers, asked);
        case AnswerKind::wait:
            break;
    }
    return line_up(wait, answers);
}

Gate::Outcome Gate::use_start(Wait& wait, const std::vector<Answer>& answers, BootTime asked) {
    if (m_options.peek) return Admitted{};
    wait.has_place = false;
    Admitted admitted;
    admitted.start = wait.id;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Claim& claim = m_options.claims[i];
        if (!answers[i].leased) continue;
        admitted.leases.push_back(lease_of(claim, wait.id, answers[i], asked));
    }
    confirm(admitted.leases);
    const Duration until_start = m_last->wait;
    if (until_start > k_short_grant) store().rest();
    if (until_start > Duration::zero()) {
        if (auto ended = sleep_until(wait, m_sleeper.now() + until_start)) {
            release(admitted.leases, false);
            return ended;
        }
    }
    const bool late = m_sleeper.now() - (asked + until_start) > k_too_late;
    if (!late || wait.late_starts == k_late_starts) return admitted;
    release(admitted.leases, false);
    ++wait.late_starts;
    wait.id = random_id();
    return std::nullopt;
}

HeldLease Gate::lease_of(const Claim& claim, StartId id, const Answer& answer, BootTime asked) const {
    HeldLease lease{claim.key, id, claim.lock_for, asked};
    lease.place = answer.terms.concurrency().has_value();
    lease.concurrency = answer.terms.concurrency().value_or(0);
    lease.birth_us = answer.birth_us;
    lease.who = m_options.who;
    return lease;
}

// What is taken by a question that nobody waits for any more ends soon; what is answered is kept for longer.
void Gate::confirm(std::vector<HeldLease>& leases) {
    for (auto& lease : leases) {
        const Duration first = first_lock(lease.lock_for);
        if (first == lease.lock_for) continue;
        const BootTime asked = m_sleeper.now();
        const auto answer = store().renew(lease.key, {lease.id, lease.lock_for, {}});
        // Where it could not be told, it lasts as it did, and is renewed at once.
        lease.taken = answer ? asked : lease.taken + first - lease.lock_for;
    }
}

Duration Gate::first_lock(Duration lock_for) {
    return store().may_count_late() ? std::min(lock_for, k_unconfirmed) : lock_for;
}

Gate::Outcome Gate::line_up(Wait& wait, const std::vector<Answer>& answers) {
    const Answer& answer = *m_last;
    // What may end sooner than is known is waited for as long as max_wait lets us: somebody may lift a pause
    // by hand, or give a place back.
    const bool is_certain = !answer.paused_by_hand && answer.why != WaitCause::lease;
    if (m_options.peek) return throttled(wait, Throttled::Why::no_wait);
    if (m_options.no_wait) {
        const bool over = m_options.ticket && left(wait) < answer.earliest && is_certain;
        if (over) give_place_back(wait);
        return throttled(wait, over ? Throttled::Why::too_long : Throttled::Why::no_wait);
    }
    wait.has_place = true;
    wait.birth_us = answers.front().birth_us;
    const Duration budget = left(wait);
    if (answer.earliest > budget && is_certain) {
        give_place_back(wait);
        return throttled(wait, Throttled::Why::too_long);
    }
    const auto wakes = listen(wait, answers);
    if (wakes.empty() && (answer.wait > k_short_sleep || answer.ahead >= k_connected)) store().rest();
    const BootTime due = wait.answered + std::min(answer.wait, budget);
    if (auto ended = sleep_until(wait, due, wakes)) return ended;
    if (answer.wait <= budget || m_sleeper.now() < due) return std::nullopt;
    give_place_back(wait);
    return throttled(wait, Throttled::Why::waited_out);
}

// A store that cannot listen just now is asked again in time.
std::vector<int> Gate::listen(const Wait& wait, const std::vector<Answer>& answers) {
    std::vector<WakeUp> wakes;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].wake != 0) wakes.push_back({m_options.claims[i].key, wait.place, answers[i].wake});
    }
    if (wakes.empty()) return {};
    auto descriptors = store().listen(wakes);
    return descriptors ? std::move(descriptors).value() : std::vector<int>{};
}

Gate::Outcome Gate::sleep_until(Wait& wait, BootTime due, const std::vector<int>& wakes) {
    for (;;) {
        m_events.waiting(status_of(wait));
        const BootTime until = std::min(due, m_sleeper.now() + m_events.waiting_interval());
        const Wake wake = m_sleeper.sleep_until(until, wakes);
        if (wake.reason == WakeReason::stop_signal) return interrupted(wait, wake.signal);
        if (wake.reason == WakeReason::woken) return std::nullopt;
        if (wake.reason == WakeReason::status_wanted) m_events.status(status_of(wait));
        if (m_sleeper.now() >= due) return std::nullopt;
    }
}

void Gate::attempt_over(const Admitted& admitted, bool succeeded) {
    release(admitted.leases, !succeeded);
}

void Gate::release(const std::vector<HeldLease>& leases, bool failed) {
    for (const auto& lease : leases) {
        const auto claim = std::find_if(m_options.claims.begin(), m_options.claims.end(),
                                        [&](const Claim& c) { return c.key == lease.key; });
        const auto released = store().release(lease.key, {lease.id, failed && claim->count_successes});
        if (released) continue;
        m_events.warning(lease.key.shown() + ": the store could not be told that its place is free, which " +
                         "is seen in " + format_duration(lease.lock_for) +
                         " at the latest: " + released.error().message);
    }
}

void Gate::tell_differences(const Wait& wait, const std::vector<Answer>& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Answer& answer = answers[i];
        const Claim& claim = m_options.claims[i];
        const bool judged = answer.kind == AnswerKind::start || answer.kind == AnswerKind::wait;
        // Who brings no numbers has none that could differ.
        if (!judged || claim.terms.empty() || m_told_numbers[i]) continue;
        const bool held_to_registered =
            answer.registered && answer.terms != claim.terms && !claim.count_successes;
        if (!answer.other && !held_to_registered) continue;
        m_told_numbers[i] = true;
        m_events.other_numbers(claim.key, answer);
    }
    if (m_told_lost || !wait.has_place || wait.birth_us == answers.front().birth_us) return;
    m_told_lost = true;
    m_events.state_lost(m_options.claims.front().key, waited_now(wait));
}

Throttled Gate::throttled(Wait& wait, Throttled::Why why) {
    const Answer answer = m_last.value_or(Answer{});
    const Duration since_answer = m_sleeper.now() - wait.answered;
    // Nobody knows when a lease ends: then it is worth asking again.
    const Duration wait_left = answer.why == WaitCause::lease ? answer.wait : answer.earliest;
    return {why, m_options.claims[m_last_claim].key, answer,
            std::max(Duration::zero(), wait_left - since_answer), waited_now(wait)};
}

Interrupted Gate::interrupted(Wait& wait, int signal) {
    give_place_back(wait);
    return {signal};
}

void Gate::give_place_back(Wait& wait) {
    if (!wait.has_place && wait.fresh && !m_options.ticket) return;
    const BootTime until = m_sleeper.now() + k_farewell;
    const auto is_in_time = [&] {
        const Duration left = until - m_sleeper.now();
        if (left > Duration::zero()) store().hurry(left);
        return left > Duration::zero();
    };
    for (const auto& claim : m_options.claims) {
        if (is_in_time()) (void)store().cancel(claim.key, wait.place);
        // A question that got no answer may have taken a lease.
        if (!wait.fresh && wants_concurrency() && is_in_time())
            (void)store().release(claim.key, {wait.id, false});
    }
    wait.has_place = false;
}

WaitStatus Gate::status_of(const Wait& wait) const {
    return {m_options.claims[m_last_claim].key, m_last.value_or(Answer{}), wait.answered, waited_now(wait),
            m_last.has_value()};
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
