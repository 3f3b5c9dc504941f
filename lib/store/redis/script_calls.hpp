// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/decide.hpp"
#include "core/key.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/packed_records.hpp"

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
Command ask_words(const ScriptSetting&, const Key&, const Question&, const StoreTraits&);
Command cancel_words(const ScriptSetting&, const Key&, TicketId);
Command pause_words(const ScriptSetting&, const Key&, const PauseRequest&);
Command resume_words(const ScriptSetting&, const Key&);
Command forget_words(const ScriptSetting&, const Key&, bool force);
Command register_words(const ScriptSetting&, const Key&, const std::optional<Registration>&);
Command inspect_words(const ScriptSetting&, const Key&);

// Why the state of a key cannot be used: refused, the reason alone. REQUIRES: there is a problem.
Error records_error(RecordsProblem, const Key&, const std::string& prefix);
// What is wrong with a reply that is no error reply; likewise.
std::optional<Error> fault_of(const Reply&, const Key&, const ScriptSetting&);

// Of replies without a fault; nothing where the reply has another form.
std::optional<Answer> answer_of(const Reply&);
std::optional<PauseAnswer> pause_answer_of(const Reply&);
std::optional<bool> forgotten_of(const Reply&);
std::optional<std::string> registered_before(const Reply&);  // empty: nothing
struct Inspected {
    std::int64_t now_us = 0;
    PackedRecords records;
};
std::optional<Inspected> inspected_of(const Reply&);

}  // namespace jobthrottle
