// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/decide.hpp"
#include "core/duration.hpp"
#include "core/memory_records.hpp"
#include "core/report.hpp"

// A counter where jobs ask: one key in memory, a clock that the test moves, and questions in few words.
namespace jobthrottle::testing {

inline Rate rate(const std::string& text) {
    return parse_rate(text).value();
}

// "start now", "start in 75ms", "come back in 2s500ms", "no limit", "conflict".
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
            break;
    }
    return "conflict";
}

inline bool same_answer(const Answer& a, const Answer& b) {
    return a.kind == b.kind && a.wait == b.wait && a.earliest == b.earliest && a.why == b.why &&
           a.ahead == b.ahead && a.number == b.number && a.waited == b.waited && a.birth_us == b.birth_us;
}

class Desk {
public:
    // An empty text: the question brings no rate.
    explicit Desk(const std::string& limit, Duration come_back = std::chrono::seconds{5})
        : m_traits{come_back} {
        set_limit(limit);
    }

    void set_limit(const std::string& limit) {
        m_rate = limit.empty() ? std::optional<Rate>{} : std::optional<Rate>{rate(limit)};
    }
    void set_pause_only() {
        m_rate.reset();
        m_pause_only = true;
    }
    void set_registered(const std::string& limit) {
        m_records.put_registration(Registration{rate(limit), 1'700'000'000, "ops@host"});
    }

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
        Question q;
        q.id = ++m_ids;
        q.place = place;
        q.rate = m_rate;
        q.pause_only = m_pause_only;
        return q;
    }
    Answer ask(const Question& q) { return jobthrottle::ask(m_records, m_now_us, q, m_traits); }
    // A new question of the runner that holds, or gets, this place.
    Answer ask(TicketId place) { return ask(question(place)); }
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

    MemoryRecords& records() { return m_records; }
    Header header() const { return m_records.header().value_or(Header{}); }
    // Where the place is, or nothing where it is not known.
    std::optional<Place> place_of(TicketId id) const {
        const auto ticket = m_records.ticket(id);
        return ticket ? std::optional<Place>{ticket->place} : std::nullopt;
    }

private:
    MemoryRecords m_records;
    StoreTraits m_traits;
    std::optional<Rate> m_rate;
    bool m_pause_only = false;
    std::int64_t m_now_us = k_begin_us;
    StartId m_ids = 0;
};

}  // namespace jobthrottle::testing
