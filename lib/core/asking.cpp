// SPDX-License-Identifier: MIT
#include "core/asking.hpp"

#include <algorithm>

#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

constexpr std::int64_t k_longest_check_us = 60'000'000;
constexpr std::int64_t k_check_per_ticket_us = 10'000;
constexpr Duration k_concurrency_retry = std::chrono::seconds{2};
constexpr Duration k_longest_away = std::chrono::hours{1};  // what is kept for longer is a dead one's
constexpr std::int64_t k_all_wakes = (std::int64_t{1} << k_wakes) - 1;
constexpr std::int64_t k_watch_us = 350'000;  // the next ones see to it that an offer is taken
constexpr std::int64_t k_shortest_departure_us = 2'000;
constexpr std::int64_t k_longest_departure_us = 2'000'000;
constexpr std::int64_t k_shortest_lease_retry_us = 5'000;

// When a waiter asks again at the latest: all waiters of a key together about 100 times a second, spread over
// half of that by their numbers.
std::int64_t come_back_us(Duration come_back, std::int64_t in_line, std::int64_t number,
                          std::int64_t spacing_us) {
    const std::int64_t check = std::min(
        k_longest_check_us, std::max({come_back.count(), in_line * k_check_per_ticket_us, spacing_us / 4}));
    return check * (16 + number % 17) / 32;
}

std::int64_t spacing_us(const Terms& terms) {
    return terms.rates().empty() ? pause_only_pace().spacing_us() : terms.rates().front().spacing_us();
}

bool costs_too_much(const Terms& terms, std::int64_t cost) {
    return std::any_of(terms.rates().begin(), terms.rates().end(),
                       [&](const Rate& rate) { return cost > rate.most_at_once(); });
}

// A plain window for each rate.
Terms as_windows(const Terms& terms) {
    std::vector<Rate> rates;
    for (const Rate& rate : terms.given())
        rates.push_back(rate.as_window());
    return Terms::make(std::move(rates), terms.concurrency()).value();
}

}  // namespace

Asking::Asking(KeyRecords& records, std::int64_t store_now_us, const Question& question,
               const StoreTraits& traits)
    : m_key(records, store_now_us), m_question(question), m_traits(traits) {
    const Header& header = m_key.header();
    if (const auto registration = records.registration()) m_answer.registered = registration->terms;
    m_answer.birth_us = header.birth_us;
    m_answer.paused_for = Duration{std::max<std::int64_t>(0, header.paused_until_us - m_key.now_us())};
    m_answer.paused_by_hand = m_key.paused() && header.paused_by_hand != 0;
    m_refused = is_refused();
    if (!m_refused) look();
}

bool Asking::is_refused() {
    auto effective = effective_terms(m_question.terms, m_answer.registered, m_question.pause_only,
                                     m_question.override_registered);
    m_answer.kind = effective.refusal;
    if (m_question.count_successes) effective.terms = as_windows(effective.terms);
    m_answer.terms = std::move(effective.terms);
    if (m_answer.kind != AnswerKind::wait) return true;
    if (costs_too_much(m_answer.terms, m_question.cost)) m_answer.kind = AnswerKind::too_costly;
    for (const LeaseId ancestor : m_question.ancestors) {
        const auto lease = m_key.lease(ancestor);
        if (lease && lease->held && lease->place) m_answer.kind = AnswerKind::nested;
    }
    return m_answer.kind != AnswerKind::wait;
}

void Asking::look() {
    const Header& header = m_key.header();
    const Terms last = header.last_terms();
    if (!m_answer.terms.empty() && !last.empty() && last != m_answer.terms) m_answer.other = last;
    if (!m_question.fresh && m_key.existed()) {
        if (const auto start = m_key.records().find_recent(m_question.id)) {
            m_repeated = true;
            m_start_at_us = std::max(m_key.now_us(), lengthen(start->short_us, header.last_start_us));
            return;
        }
    }
    m_own = m_key.ticket(m_question.place);
    m_standing = standing_of(m_key, m_own, m_question.cost);
    m_judgement = judge(m_key, m_standing, m_answer.terms, m_question.count_successes);
    // Somebody may have died with his place: better seen now than when his lease runs out.
    if (m_judgement.waits_for_lease && m_standing.rank < k_wakes && m_key.drop_dead_leases())
        m_judgement = judge(m_key, m_standing, m_answer.terms, m_question.count_successes);
    m_start_at_us = m_judgement.start_at_us;
    m_answer.ahead = m_standing.rank;
    m_answer.number = m_own ? m_own->number : 0;
    m_answer.waited = Duration{m_own ? m_key.now_us() - m_own->since_us : 0};
    m_answer.why = cause();
    m_answer.earliest = Duration{m_judgement.possible_us - m_key.now_us()};
}

WaitCause Asking::cause() const {
    if (m_key.paused()) return WaitCause::paused;
    if (m_judgement.waits_for_lease) return WaitCause::lease;
    return m_standing.rank > 0 ? WaitCause::line : WaitCause::rate;
}

// The first in line is woken, and looks now and then; the next three watch that he takes what he is offered;
// those behind come in time to be among the four. Who comes back to the head of the line may find all
// wake-ups taken, until those behind ask again.
std::int64_t Asking::lease_retry_us() const {
    const Header& header = m_key.header();
    const std::int64_t now = m_key.now_us();
    const Duration come_back = std::min(m_traits.come_back, k_concurrency_retry);
    const std::int64_t check = come_back_us(come_back, m_standing.others + 1, m_standing.number, 0);
    if (m_question.caller) return k_concurrency_retry.count();
    const auto turn = [&](std::int64_t places) {
        return std::min(check, std::max(k_shortest_lease_retry_us, places * departures_apart_us() / 2));
    };
    const bool has_wake = (m_own && m_own->wake != 0) || header.wakes != k_all_wakes;
    if (m_standing.rank < k_wakes && !has_wake) return turn(m_standing.rank + 1);
    if (m_standing.rank == 0) {
        const std::int64_t runs_out = header.next_lease_us + 1 - now;
        return runs_out > 0 ? std::min(check, std::max(runs_out, k_shortest_lease_retry_us)) : check;
    }
    if (m_standing.rank < k_wakes) return std::min(check, k_watch_us * m_standing.rank);
    // All who hold a place may leave at once.
    const std::int64_t places = m_answer.terms.concurrency().value_or(0);
    const std::int64_t in_one_go = m_standing.rank < places ? places * k_check_per_ticket_us : check;
    return std::min(in_one_go, turn(m_standing.rank - k_wakes + 1));
}

// How fast places become free. With some of them empty, because those at the head are still asleep, it is
// slower than it would be.
std::int64_t Asking::departures_apart_us() const {
    const Header& header = m_key.header();
    const std::int64_t places = m_answer.terms.concurrency().value_or(0);
    std::int64_t apart = header.departure_us;
    if (header.places < places) apart = apart * (header.places + 1) / (places + 1);
    const std::int64_t passed = std::min(m_key.now_us() - header.last_departure_us, k_longest_departure_us);
    const std::int64_t part = header.departure_us == 0 ? std::max<std::int64_t>(1, header.places) : 4;
    return std::max({k_shortest_departure_us, apart, passed / part});
}

Duration Asking::again_in() const {
    if (starts()) return Duration::zero();
    if (!m_judgement.waits_for_lease) return Duration{m_judgement.ask_again_us - m_key.now_us()};
    const std::int64_t retry = lease_retry_us();
    const std::int64_t rates = m_judgement.rates_us - m_key.now_us();
    if (rates <= 0) return Duration{retry};
    // A window of successes may open before anybody leaves; a place is of no use before the rates allow it.
    return Duration{m_question.count_successes ? std::min(rates, retry) : std::max(rates, retry)};
}

Duration Asking::check_in() const {
    return Duration{come_back_us(m_traits.come_back, m_standing.others + 1, m_standing.number,
                                 spacing_us(m_answer.terms))};
}

bool Asking::is_crowded() const {
    return m_question.max_waiting && !m_own && !starts() && m_standing.others >= *m_question.max_waiting;
}

void Asking::take_start(Duration in) {
    m_answer.kind = AnswerKind::start;
    m_answer.wait = m_answer.earliest = in;
    if (m_repeated) {
        const auto lease = m_key.lease(m_question.id);
        m_answer.leased = lease && lease->held;
        return;
    }
    if (m_own) m_key.remove_ticket(m_question.place, *m_own);
    Header& header = m_key.header();
    const std::int64_t at = m_key.now_us() + in.count();
    const auto& rates = m_answer.terms.rates();
    std::int64_t longest = rates.empty() ? pause_only_pace().period().count() : 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        header.rows[i].take_slot(m_judgement.slots[i], rates[i], m_question.cost);
        longest = std::max<std::int64_t>(longest, rates[i].period().count());
    }
    if (rates.empty()) {
        header.rows[0].take_slot(m_judgement.slots[0], pause_only_pace(), 1);
    } else {
        StartLogs(m_key.records(), header).add(at, m_question.cost, rates);
    }
    header.last_start_us = at;
    m_key.records().put_recent(header.recent_total % k_recent_starts, {m_question.id, shorten(at)});
    ++header.recent_total;
    header.starts_until_us = std::max(header.starts_until_us, at + longest);
    header.set_last_terms(m_answer.terms);
    if (!m_answer.terms.concurrency() && !m_question.count_successes && !m_question.settles) return;
    Lease lease;
    lease.place = m_answer.terms.concurrency().has_value();
    lease.open = m_question.count_successes;
    lease.cost = m_question.cost;
    lease.at_us = at;
    lease.length_us = m_question.lock_for.count();
    lease.until_us = at + lease.length_us;
    lease.who = m_question.who.substr(0, k_who_bytes);
    lease.processes = m_question.processes.substr(0, k_processes_bytes);
    // Under an id that is forgotten there may be one already.
    m_key.put_lease(m_question.id, lease, m_question.fresh ? std::nullopt : m_key.lease(m_question.id));
    m_answer.leased = true;
}

void Asking::take_place(Duration told, std::optional<Duration> away) {
    // Of a start that another key has forgotten it needs no place here: it will ask under a new id.
    if (m_repeated) return tell(AnswerKind::wait, told);
    Header& header = m_key.header();
    Ticket ticket = m_own.value_or(Ticket{});
    ticket.place = away ? Place::away : Place::in_line;
    ticket.number = m_standing.number;
    ticket.caller = away || m_question.caller || m_question.hold;
    ticket.keep = away || m_question.hold ? std::max(m_question.keep, k_caller_keep) : m_question.keep;
    ticket.cost = m_question.cost;
    if (!m_own) {
        ticket.since_us = m_key.now_us();
        ticket.who = m_question.who.substr(0, k_who_bytes);
        ++header.numbers;
    }
    if (m_key.paused()) header.paced_number = std::max(header.paced_number, ticket.number);
    ticket.told_us = m_key.now_us() + (away ? std::min(*away, k_longest_away) : told).count();
    ticket.offered = false;
    const bool listens =
        m_judgement.waits_for_lease && !away && !m_question.caller && m_standing.rank < k_wakes;
    if (!listens) ticket.wake = 0;
    if (listens && ticket.wake == 0) ticket.wake = m_key.free_wake();
    m_key.put_ticket(m_question.place, ticket, m_own);
    header.set_last_terms(m_answer.terms);
    m_answer.kind = AnswerKind::wait;
    m_answer.wait = told;
    m_answer.number = ticket.number;
    m_answer.wake = ticket.wake;
}

void Asking::hold() {
    const Duration in = start_in();
    const Duration back = std::max(in, check_in());
    take_place(back, back);
    tell(AnswerKind::start, in);
}

void Asking::tell(AnswerKind kind, Duration wait) {
    m_answer.kind = kind;
    m_answer.wait = wait;
    if (kind == AnswerKind::start) m_answer.earliest = wait;
}

Answer Asking::finish() {
    m_answer.places = m_key.header().places;
    m_answer.waiting = m_key.header().in_line;
    m_key.save();
    return std::move(m_answer);
}

}  // namespace jobthrottle
