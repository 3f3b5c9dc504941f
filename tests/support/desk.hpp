// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/attempts.hpp"
#include "core/decide.hpp"
#include "core/duration.hpp"
#include "core/memory_records.hpp"
#include "core/report.hpp"

// A counter where jobs ask: one key in memory, a clock that the test moves, and questions in few words.
namespace jobthrottle::testing {

inline Rate rate(const std::string& text) {
    return parse_rate(text).value();
}

// As Terms::text() writes them: "10/s and 500/min, 4 at once"; empty: none.
inline Terms terms(const std::string& text) {
    std::vector<Rate> rates;
    std::optional<std::int64_t> at_once;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t comma = text.find(", ", from), word = text.find(" and ", from);
        const std::size_t end = std::min({comma, word, text.size()});
        const std::string part = text.substr(from, end - from);
        if (const auto places = part.find(" at once"); places != std::string::npos) {
            at_once = std::stoll(part.substr(0, places));
        } else {
            rates.push_back(rate(part));
        }
        from = end + (end == comma ? 2 : end == word ? 5 : 0);
    }
    return Terms::make(std::move(rates), at_once).value();
}

// "start now", "start in 75ms", "come back in 2s500ms", "no limit", "conflict" ...
inline std::string say(const Answer& answer) {
    switch (answer.kind) {
        case AnswerKind::start:
            if (answer.wait == Duration::zero()) return "start now";
            return "start in " + format_duration_exactly(answer.wait);
        case AnswerKind::wait:
            return "come back in " + format_duration_exactly(answer.wait);
        case AnswerKind::no_limit:
            return "no limit";
        case AnswerKind::conflict:
            return "conflict";
        case AnswerKind::too_costly:
            return "too costly";
        case AnswerKind::nested:
            return "nested";
        case AnswerKind::crowded:
            break;
    }
    return "crowded";
}

inline std::string say(LeaseState state) {
    static constexpr const char* k_words[] = {"held", "retaken", "lost", "unknown"};
    return k_words[static_cast<std::size_t>(state)];
}

inline bool same_answer(const Answer& a, const Answer& b) {
    return a.kind == b.kind && a.wait == b.wait && a.earliest == b.earliest && a.why == b.why &&
           a.ahead == b.ahead && a.number == b.number && a.waited == b.waited && a.birth_us == b.birth_us &&
           a.leased == b.leased && a.wake == b.wake && a.places == b.places && a.waiting == b.waiting;
}

class Desk {
public:
    // An empty text: the question brings no limit.
    explicit Desk(const std::string& limit, Duration come_back = std::chrono::seconds{5})
        : m_traits{come_back} {
        set_limit(limit);
    }

    void set_limit(const std::string& limit) { m_usual.terms = terms(limit); }
    void set_pause_only() {
        m_usual.terms = {};
        m_usual.pause_only = true;
    }
    void set_registered(const std::string& limit) {
        m_records.put_registration(Registration{terms(limit), 1'700'000'000, "ops@host"});
    }
    // What all questions have in common, from now on.
    Question& usual() { return m_usual; }

    // The store's clock, since the test began. It may be set back.
    Desk& at(Duration since_begin) {
        m_now_us = k_begin_us + since_begin.count();
        return *this;
    }
    Desk& after(Duration d) {
        m_now_us += d.count();
        return *this;
    }
    std::int64_t now_us() const { return m_now_us; }
    static constexpr std::int64_t k_begin_us = 1'700'000'000'000'000;

    Question question(TicketId place) {
        Question q = m_usual;
        q.id = ++m_ids;
        q.place = place;
        return q;
    }
    Answer ask(const Question& q) { return jobthrottle::ask(m_records, m_now_us, q, m_traits); }
    // A new question of the runner that holds, or gets, this place.
    Answer ask(TicketId place) { return ask(question(place)); }
    Answer ask_costing(TicketId place, std::int64_t cost) {
        Question q = question(place);
        q.cost = cost;
        return ask(q);
    }
    Answer ask_as_caller(TicketId place, Duration keep = k_caller_keep) {
        Question q = question(place);
        q.caller = true;
        q.keep = keep;
        return ask(q);
    }
    // A question under an id that was used before, as after a lost reply.
    Answer ask_again(TicketId place, StartId id) {
        Question q = question(place);
        q.id = id;
        q.fresh = false;
        return ask(q);
    }
    StartId last_id() const { return m_ids; }
    Answer peek(TicketId place = 999'999) {
        Question q = question(place);
        q.taking = Taking::nothing;
        return ask(q);
    }
    Answer start_or_nothing() {
        Question q = question(999'998);
        q.taking = Taking::start;
        return ask(q);
    }
    bool cancel(TicketId place) { return jobthrottle::cancel(m_records, m_now_us, place); }
    PauseAnswer pause(Duration length) {
        return jobthrottle::pause(m_records, m_now_us, {length, false, false, "note"});
    }
    PauseAnswer pause_for_ever() {
        return jobthrottle::pause(m_records, m_now_us, {Duration::zero(), true, true, "note"});
    }
    PauseAnswer resume() { return jobthrottle::resume(m_records, m_now_us); }
    KeyReport report() const { return report_on(m_records, m_now_us); }

    LeaseAnswer renew(LeaseId id, Duration lock_for = {}) {
        return jobthrottle::renew(m_records, m_now_us, {id, lock_for, {}});
    }
    LeaseAnswer release(LeaseId id) { return jobthrottle::release(m_records, m_now_us, {id, false}); }
    LeaseAnswer fail(LeaseId id) { return jobthrottle::release(m_records, m_now_us, {id, true}); }
    SettleAnswer settle(LeaseId id, std::int64_t cost) {
        return jobthrottle::settle(m_records, m_now_us, {id, cost});
    }
    bool give_back(const GiveBack& start) { return jobthrottle::give_back(m_records, m_now_us, start); }
    std::vector<std::pair<LeaseId, Lease>> release_leases(bool only_dead) {
        return jobthrottle::release_leases(m_records, m_now_us, only_dead);
    }
    // Who was woken since this was asked last, in order.
    std::vector<TicketId> woken() { return m_records.take_woken(); }

    MemoryRecords& records() { return m_records; }
    const StoreTraits& traits() const { return m_traits; }
    Header header() const { return m_records.header().value_or(Header{}); }
    // Where the place is, or nothing where it is not known.
    std::optional<Place> place_of(TicketId id) const {
        const auto ticket = m_records.ticket(id);
        return ticket ? std::optional<Place>{ticket->place} : std::nullopt;
    }

private:
    MemoryRecords m_records;
    StoreTraits m_traits;
    Question m_usual;
    std::int64_t m_now_us = k_begin_us;
    StartId m_ids = 0;
};

// One job that several keys must let start. The desks' clocks show the same.
inline std::vector<Answer> ask_together(const std::vector<Desk*>& desks, TicketId place) {
    std::vector<Question> questions;
    for (Desk* desk : desks)
        questions.push_back(desk->question(place));
    std::vector<KeyQuestion> asked;
    for (std::size_t i = 0; i < desks.size(); ++i)
        asked.push_back({&desks[i]->records(), &questions[i]});
    return ask(asked, desks.front()->now_us(), desks.front()->traits());
}

}  // namespace jobthrottle::testing
