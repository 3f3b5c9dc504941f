// SPDX-License-Identifier: MIT
#include "core/decide.hpp"

#include <algorithm>

#include "core/clocked_key.hpp"
#include "core/judgement.hpp"
#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

constexpr std::int64_t k_longest_check_us = 60'000'000;
constexpr std::int64_t k_check_per_ticket_us = 10'000;

// When a waiter asks again at the latest: all waiters of a key together about 100 times a second, spread over
// half of that by their numbers.
std::int64_t come_back_us(const StoreTraits& traits, std::int64_t in_line, std::int64_t number,
                          const Rate& rate) {
    const std::int64_t check = std::min(
        k_longest_check_us,
        std::max({traits.come_back.count(), in_line * k_check_per_ticket_us, rate.spacing_us() / 4}));
    return check * (16 + number % 17) / 32;
}

void take_start(ClockedKey& key, const Question& question, const Judgement& judgement,
                const std::optional<Rate>& brought) {
    Header& header = key.header();
    const Rate& rate = brought ? *brought : pause_only_pace();
    header.take_slot(judgement.slot, rate, 1);
    if (brought) StartLog(key.records(), header).add(judgement.start_at_us, rate);
    header.last_start_us = judgement.start_at_us;
    key.records().put_recent(header.recent_total % k_recent_starts,
                             {question.id, shorten(judgement.start_at_us)});
    ++header.recent_total;
    header.starts_until_us = std::max(header.starts_until_us, judgement.start_at_us + rate.period().count());
}

// Puts the asker in line and returns when it is to ask again.
std::int64_t take_place(ClockedKey& key, const Question& question, const Standing& standing,
                        const Judgement& judgement, const std::optional<Ticket>& own, const Rate& pace,
                        const StoreTraits& traits) {
    Ticket ticket = own.value_or(Ticket{});
    ticket.place = Place::in_line;
    ticket.number = standing.number;
    ticket.caller = question.caller;
    ticket.keep = question.keep;
    if (!own) {
        ticket.since_us = key.now_us();
        ticket.who = question.who.substr(0, k_who_bytes);
        ++key.header().numbers;
    }
    ticket.told_us = judgement.ask_again_us;
    // The end of a pause without end is not known, so a caller comes back to look like everybody.
    if (!question.caller || key.header().paused_until_us == k_forever_us) {
        const std::int64_t check = come_back_us(traits, standing.others + 1, standing.number, pace);
        ticket.told_us = std::min(ticket.told_us, key.now_us() + check);
    }
    key.put_ticket(question.place, ticket, own);
    return ticket.told_us;
}

void note_rate(Header& header, const std::optional<Rate>& rate, Answer& answer) {
    const auto last = header.last_rate();
    if (rate && last && *last != *rate) answer.other_rate = last;
}

WaitCause cause_of(const ClockedKey& key, const Header& header, const Standing& standing) {
    if (key.now_us() < header.paused_until_us) return WaitCause::paused;
    return standing.rank > 0 ? WaitCause::line : WaitCause::rate;
}

// The start that was given under this id before, if the question is a repeated one.
std::optional<Answer> earlier_start(ClockedKey& key, const Question& question, Answer answer) {
    if (question.fresh || !key.existed()) return std::nullopt;
    const auto start = key.records().find_recent(question.id);
    if (!start) return std::nullopt;
    const std::int64_t at = lengthen(start->short_us, key.header().last_start_us);
    answer.kind = AnswerKind::start;
    answer.wait = answer.earliest = Duration{std::max<std::int64_t>(0, at - key.now_us())};
    return answer;
}

}  // namespace

EffectiveRate effective_rate(const std::optional<Rate>& brought, const std::optional<Rate>& registered,
                             bool pause_only, bool override_registered) {
    if (registered && !brought) return {AnswerKind::wait, registered};
    if (!brought) return {pause_only ? AnswerKind::wait : AnswerKind::no_limit, std::nullopt};
    if (!registered || override_registered) return {AnswerKind::wait, brought};
    if (registered->period() != brought->period()) return {AnswerKind::conflict, std::nullopt};
    return {AnswerKind::wait, strictest(*brought, *registered)};
}

Answer ask(KeyRecords& records, std::int64_t store_now_us, const Question& question,
           const StoreTraits& traits) {
    ClockedKey key(records, store_now_us);
    Header& header = key.header();
    Answer answer;
    if (const auto registration = records.registration()) answer.registered = registration->rate;
    const auto effective =
        effective_rate(question.rate, answer.registered, question.pause_only, question.override_registered);
    answer.rate = effective.rate;
    answer.birth_us = header.birth_us;
    answer.paused_for = Duration{std::max<std::int64_t>(0, header.paused_until_us - key.now_us())};
    answer.paused_by_hand = answer.paused_for > Duration::zero() && header.paused_by_hand != 0;
    if (effective.refusal != AnswerKind::wait) {
        answer.kind = effective.refusal;
        key.save();
        return answer;
    }
    note_rate(header, effective.rate, answer);
    if (auto repeated = earlier_start(key, question, answer)) {
        key.save();
        return *repeated;
    }

    const auto own = key.ticket(question.place);
    const Standing standing = standing_of(key, own);
    const Judgement judgement = judge(key, standing, effective.rate);
    answer.ahead = standing.rank;
    answer.number = own ? own->number : 0;
    answer.waited = Duration{own ? key.now_us() - own->since_us : 0};
    answer.why = cause_of(key, header, standing);
    answer.earliest = Duration{judgement.possible_us - key.now_us()};
    answer.kind = judgement.starts ? AnswerKind::start : AnswerKind::wait;
    std::int64_t told = judgement.starts ? judgement.start_at_us : judgement.ask_again_us;
    if (judgement.starts && question.taking != Taking::nothing) {
        if (own) key.remove_ticket(question.place, *own);
        take_start(key, question, judgement, effective.rate);
        header.set_last_rate(effective.rate);
    } else if (!judgement.starts && question.taking == Taking::place) {
        const Rate& pace = effective.rate ? *effective.rate : pause_only_pace();
        told = take_place(key, question, standing, judgement, own, pace, traits);
        answer.number = standing.number;
        header.set_last_rate(effective.rate);
    }
    answer.wait = Duration{told - key.now_us()};
    key.save();
    return answer;
}

bool cancel(KeyRecords& records, std::int64_t store_now_us, TicketId id) {
    ClockedKey key(records, store_now_us);
    const auto ticket = key.ticket(id);
    if (ticket) key.remove_ticket(id, *ticket);
    key.save();
    return ticket.has_value();
}

PauseAnswer pause(KeyRecords& records, std::int64_t store_now_us, const PauseRequest& request) {
    ClockedKey key(records, store_now_us);
    Header& header = key.header();
    const std::int64_t until = request.forever ? k_forever_us : key.now_us() + request.length.count();
    const bool longer = until > header.paused_until_us;
    if (longer) {
        header.paused_until_us = until;
        header.paused_by_hand = request.by_hand ? 1 : 0;
        records.put_pause_note(request.note);
    }
    key.save();
    return {Duration{header.paused_until_us - key.now_us()}, header.paused_until_us == k_forever_us, longer};
}

PauseAnswer resume(KeyRecords& records, std::int64_t store_now_us) {
    ClockedKey key(records, store_now_us);
    Header& header = key.header();
    const bool paused = header.paused_until_us > key.now_us();
    if (paused) header.paused_until_us = key.now_us();
    key.save();
    return {Duration::zero(), false, paused};
}

}  // namespace jobthrottle
