// SPDX-License-Identifier: MIT
#include "store/redis/script_calls.hpp"

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

std::string ids_of(const std::vector<LeaseId>& ids) {
    std::string bytes;
    for (const LeaseId id : ids)
        bytes += pack_id(id);
    return bytes;
}

void append_question(Command& words, const Question& question) {
    const Terms& terms = question.terms;
    words.insert(
        words.end(),
        {pack_id(question.id), pack_id(question.place), flag(question.fresh), flag(question.pause_only),
         flag(question.override_registered), std::to_string(question.cost), flag(question.count_successes),
         flag(question.settles), std::to_string(question.lock_for.count()),
         question.max_waiting ? std::to_string(*question.max_waiting) : "", ids_of(question.ancestors),
         flag(question.hold), flag(question.caller), std::to_string(question.keep.count()),
         std::to_string(static_cast<int>(question.taking)), question.who.substr(0, k_who_bytes),
         std::to_string(terms.concurrency().value_or(0)), std::to_string(terms.given().size())});
    for (const Rate& rate : terms.given()) {
        for (const std::int64_t number :
             {rate.allow(), rate.period().count(), rate.burst(), rate.window_burst()})
            words.push_back(std::to_string(number));
    }
}

}  // namespace

Command ask_words(const ScriptSetting& setting, const std::vector<Asked>& asked, const StoreTraits& traits) {
    Command words = {std::to_string(asked.size() * k_record_names)};
    for (const auto& one : asked) {
        for (auto& name : record_names(setting.prefix, one.key))
            words.push_back(std::move(name));
    }
    words.insert(words.end(), {"ask", std::to_string(setting.database), setting.clock,
                               std::to_string(traits.come_back.count())});
    for (const auto& one : asked)
        append_question(words, one.question);
    return words;
}

Command cancel_words(const ScriptSetting& setting, const Key& key, TicketId id) {
    return decide_words(setting, key, "cancel", {pack_id(id)});
}

Command renew_words(const ScriptSetting& setting, const Key& key, const Renewal& renewal) {
    return decide_words(
        setting, key, "renew",
        {pack_id(renewal.id), std::to_string(renewal.lock_for.count()), std::to_string(renewal.concurrency),
         std::to_string(renewal.birth_us), renewal.who.substr(0, k_who_bytes)});
}

Command release_words(const ScriptSetting& setting, const Key& key, const Release& release) {
    return decide_words(setting, key, "release", {pack_id(release.id), flag(release.give_back)});
}

Command release_leases_words(const ScriptSetting& setting, const Key& key, bool only_dead) {
    return decide_words(setting, key, "release_leases", {flag(only_dead)});
}

Command settle_words(const ScriptSetting& setting, const Key& key, const Settlement& settlement) {
    return decide_words(setting, key, "settle", {pack_id(settlement.id), std::to_string(settlement.cost)});
}

Command give_back_words(const ScriptSetting& setting, const Key& key, const GiveBack& given) {
    return decide_words(
        setting, key, "give_back",
        {pack_id(given.id), std::to_string(given.cost), pack_id(given.place), std::to_string(given.number),
         std::to_string(given.waited.count()), given.who.substr(0, k_who_bytes)});
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

}  // namespace jobthrottle
