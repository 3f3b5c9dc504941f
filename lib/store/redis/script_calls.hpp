// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/redis/connection.hpp"
#include "store/redis/packed_records.hpp"
#include "store/store.hpp"

// The scripts as functions: what goes in, and what their replies mean. scripts/*.lua says the same from
// inside.
namespace jobthrottle {

// What every call of one store has in common.
struct ScriptSetting {
    std::string prefix;
    int database = 0;
    std::string clock;  // in us; empty: the server's
};

// The words of decide.lua and inspect.lua after EVALSHA and the script's name.
Command ask_words(const ScriptSetting&, const std::vector<Asked>&, const StoreTraits&);
Command cancel_words(const ScriptSetting&, const Key&, TicketId);
Command renew_words(const ScriptSetting&, const Key&, const Renewal&);
Command release_words(const ScriptSetting&, const Key&, const Release&);
Command release_leases_words(const ScriptSetting&, const Key&, bool only_dead);
Command settle_words(const ScriptSetting&, const Key&, const Settlement&);
Command give_back_words(const ScriptSetting&, const Key&, const GiveBack&);
Command pause_words(const ScriptSetting&, const Key&, const PauseRequest&);
Command resume_words(const ScriptSetting&, const Key&);
Command forget_words(const ScriptSetting&, const Key&, bool force);
Command register_words(const ScriptSetting&, const Key&, const std::optional<Registration>&);
Command inspect_words(const ScriptSetting&, const Key&);

// Why the state of a key cannot be used: refused, the reason alone. REQUIRES: there is a problem.
Error records_error(RecordsProblem, const Key&, const std::string& prefix);
// What is wrong with a reply that is no error reply, of a call on these keys; likewise.
std::optional<Error> fault_of(const Reply&, const std::vector<const Key*>&, const ScriptSetting&);

// Of replies without a fault; nothing where the reply has another form.
std::optional<std::vector<Answer>> answers_of(const Reply&, std::size_t count);
std::optional<LeaseAnswer> lease_answer_of(const Reply&);
std::optional<std::vector<Holder>> released_of(const Reply&);
std::optional<SettleAnswer> settle_answer_of(const Reply&);
std::optional<PauseAnswer> pause_answer_of(const Reply&);
std::optional<bool> flag_of(const Reply&);                   // of cancel, give_back and forget
std::optional<std::string> registered_before(const Reply&);  // empty: nothing
struct Inspected {
    std::int64_t now_us = 0;
    PackedRecords records;
};
std::optional<Inspected> inspected_of(const Reply&);

}  // namespace jobthrottle
