// SPDX-License-Identifier: MIT
#include "store/redis/script_calls.hpp"

#include <array>

#include "base/text.hpp"
#include "store/redis/key_names.hpp"

namespace jobthrottle {

namespace {

std::string flag(bool value) {
    return value ? "1" : "0";
}

// The records of the key, as KEYS.
Command words_for(const ScriptSetting& setting, const Key& key) {
    auto names = record_names(setting.prefix, key);
    Command words = {std::to_string(names.size())};
    words.insert(words.end(), names.begin(), names.end());
    return words;
}

Command decide_words(const ScriptSetting& setting, const Key& key, const char* op,
                     std::initializer_list<std::string> rest) {
    Command words = words_for(setting, key);
    words.insert(words.end(), {op, std::to_string(setting.database), setting.clock});
    words.insert(words.end(), rest);
    return words;
}

bool is_text(const Reply& reply) {
    return reply.kind == Reply::Kind::text;
}

// The whole numbers of a reply after its first item.
template <std::size_t k_count>
std::optional<std::array<std::int64_t, k_count>> numbers_of(const Reply& reply) {
    if (reply.items.size() != k_count + 1) return std::nullopt;
    std::array<std::int64_t, k_count> numbers{};
    for (std::size_t i = 0; i < k_count; ++i) {
        if (reply.items[i + 1].kind != Reply::Kind::integer) return std::nullopt;
        numbers[i] = reply.items[i + 1].integer;
    }
    return numbers;
}

std::optional<Rate> rate_of(std::int64_t allow, std::int64_t period_us, std::int64_t burst) {
    if (allow == 0) return std::nullopt;
    const auto rate = Rate::make(allow, Duration{period_us}, burst);
    if (!rate) return std::nullopt;
    return *rate;
}

}  // namespace

Command ask_words(const ScriptSetting& setting, const Key& key, const Question& question,
                  const StoreTraits& traits) {
    const auto& rate = question.rate;
    return decide_words(
        setting, key, "ask",
        {pack_id(question.id), pack_id(question.place), flag(question.fresh),
         std::to_string(rate ? rate->allow() : 0), std::to_string(rate ? rate->period().count() : 0),
         std::to_string(rate ? rate->burst() : 0), flag(question.pause_only),
         flag(question.override_registered), flag(question.caller), std::to_string(question.keep.count()),
         std::to_string(static_cast<int>(question.taking)), std::to_string(traits.come_back.count()),
         question.who.substr(0, k_who_bytes)});
}

Command cancel_words(const ScriptSetting& setting, const Key& key, TicketId id) {
    return decide_words(setting, key, "cancel", {pack_id(id)});
}

Command pause_words(const ScriptSetting& setting, const Key& key, const PauseRequest& request) {
    return decide_words(
        setting, key, "pause",
        {request.forever ? "" : std::to_string(request.length.count()), flag(request.by_hand), request.note});
}

Command resume_words(const ScriptSetting& setting, const Key& key) {
    return decide_words(setting, key, "resume", {});
}

Command forget_words(const ScriptSetting& setting, const Key& key, bool force) {
    return decide_words(setting, key, "forget", {flag(force)});
}

Command register_words(const ScriptSetting& setting, const Key& key,
                       const std::optional<Registration>& wanted) {
    return decide_words(setting, key, "register", {wanted ? encode(*wanted) : ""});
}

Command inspect_words(const ScriptSetting& setting, const Key& key) {
    Command words = words_for(setting, key);
    words.insert(words.end(), {std::to_string(setting.database), setting.clock});
    return words;
}

Error records_error(RecordsProblem problem, const Key& key, const std::string& prefix) {
    if (problem == RecordsProblem::newer) {
        return refused_error("the state of key '" + key.shown() + "' was written by a newer jobthrottle");
    }
    return refused_error("what is stored for key '" + key.shown() +
                         "' is not of jobthrottle; another application uses the prefix '" +
                         escape_for_display(prefix) + "', so choose another --prefix");
}

std::optional<Error> fault_of(const Reply& reply, const Key& key, const ScriptSetting& setting) {
    const std::string status =
        reply.kind == Reply::Kind::list && !reply.items.empty() ? reply.items[0].text : "";
    if (status == "ok") return std::nullopt;
    if (status == "no database") {
        return refused_error("it has no database " + std::to_string(setting.database) +
                             ", or this user may not select it");
    }
    if (status == "newer") return records_error(RecordsProblem::newer, key, setting.prefix);
    if (status == "foreign") return records_error(RecordsProblem::foreign, key, setting.prefix);
    return refused_error("its answer is not understood");
}

std::optional<Answer> answer_of(const Reply& reply) {
    const auto numbers = numbers_of<19>(reply);
    if (!numbers) return std::nullopt;
    const auto& n = *numbers;
    if (n[0] < 0 || n[0] > static_cast<int>(AnswerKind::conflict)) return std::nullopt;
    if (n[3] < 0 || n[3] > static_cast<int>(WaitCause::line)) return std::nullopt;
    Answer answer;
    answer.kind = static_cast<AnswerKind>(n[0]);
    answer.wait = Duration{n[1]};
    answer.earliest = Duration{n[2]};
    answer.why = static_cast<WaitCause>(n[3]);
    answer.ahead = n[4];
    answer.number = n[5];
    answer.waited = Duration{n[6]};
    answer.birth_us = n[7];
    answer.paused_for = Duration{n[8]};
    answer.paused_by_hand = n[9] != 0;
    answer.rate = rate_of(n[10], n[11], n[12]);
    answer.registered = rate_of(n[13], n[14], n[15]);
    answer.other_rate = rate_of(n[16], n[17], n[18]);
    return answer;
}

std::optional<PauseAnswer> pause_answer_of(const Reply& reply) {
    const auto numbers = numbers_of<3>(reply);
    if (!numbers) return std::nullopt;
    return PauseAnswer{Duration{(*numbers)[0]}, (*numbers)[1] != 0, (*numbers)[2] != 0};
}

std::optional<bool> forgotten_of(const Reply& reply) {
    const auto numbers = numbers_of<1>(reply);
    if (!numbers) return std::nullopt;
    return (*numbers)[0] != 0;
}

std::optional<std::string> registered_before(const Reply& reply) {
    if (reply.items.size() != 2 || !is_text(reply.items[1])) return std::nullopt;
    return reply.items[1].text;
}

std::optional<Inspected> inspected_of(const Reply& reply) {
    if (reply.items.size() != 6) return std::nullopt;
    const Reply &clock = reply.items[1], &state = reply.items[2], &tickets = reply.items[3];
    const Reply &registered = reply.items[4], &note = reply.items[5];
    if (clock.kind != Reply::Kind::integer || tickets.kind != Reply::Kind::list || !is_text(state) ||
        !is_text(registered) || !is_text(note)) {
        return std::nullopt;
    }
    Inspected inspected;
    inspected.now_us = clock.integer;
    inspected.records.state = state.text;
    inspected.records.registered = registered.text;
    inspected.records.note = note.text;
    for (std::size_t i = 0; i + 1 < tickets.items.size(); i += 2)
        inspected.records.tickets.emplace_back(tickets.items[i].text, tickets.items[i + 1].text);
    return inspected;
}

}  // namespace jobthrottle
