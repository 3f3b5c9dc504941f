// SPDX-License-Identifier: MIT
#include "core/decide.hpp"

#include <algorithm>

#include "core/asking.hpp"
#include "core/clocked_key.hpp"

namespace jobthrottle {

EffectiveTerms effective_terms(const Terms& brought, const std::optional<Terms>& registered, bool pause_only,
                               bool override_registered) {
    if (registered && brought.empty()) return {AnswerKind::wait, *registered};
    if (brought.empty()) return {pause_only ? AnswerKind::wait : AnswerKind::no_limit, {}};
    if (!registered || override_registered) return {AnswerKind::wait, brought};
    auto both = strictest(brought, *registered);
    if (!both) return {AnswerKind::conflict, {}};
    return {AnswerKind::wait, std::move(both).value()};
}

Answer ask(KeyRecords& records, std::int64_t store_now_us, const Question& question,
           const StoreTraits& traits) {
    return std::move(ask({{&records, &question}}, store_now_us, traits).front());
}

std::vector<Answer> ask(const std::vector<KeyQuestion>& questions, std::int64_t store_now_us,
                        const StoreTraits& traits) {
    std::vector<Asking> keys;
    keys.reserve(questions.size());
    for (const auto& one : questions)
        keys.emplace_back(*one.records, store_now_us, *one.question, traits);
    decide_together(keys);
    std::vector<Answer> answers;
    answers.reserve(keys.size());
    for (auto& key : keys)
        answers.push_back(key.finish());
    return answers;
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
        header.paced_number = header.numbers;
        records.put_pause_note(request.note);
    }
    key.save();
    return {Duration{header.paused_until_us - key.now_us()}, header.paused_until_us == k_forever_us, longer};
}

PauseAnswer resume(KeyRecords& records, std::int64_t store_now_us) {
    ClockedKey key(records, store_now_us);
    Header& header = key.header();
    const bool paused = key.paused();
    if (paused) {
        header.paused_until_us = key.now_us();
        key.note_room();  // places that became free in the pause were offered to nobody
    }
    key.save();
    return {Duration::zero(), false, paused};
}

}  // namespace jobthrottle
