// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/key_records.hpp"
#include "core/rate.hpp"
#include "core/ticket.hpp"

// When may a job start? One pure decision over the records of one key, the same in every store; decide.lua
// makes it inside Redis and tests hold the two equal, answer by answer and byte by byte. doc/algorithm.md
// explains it.
namespace jobthrottle {

enum class Taking : std::uint8_t {
    place,    // a start, or else a place in the line
    start,    // a start, or else nothing: --no-wait without a ticket
    nothing,  // only look: --peek
};

struct Question {
    StartId id = 0;      // random, made once per start; a repeated question carries it again
    TicketId place = 0;  // the asker's place in the line
    // This question was never sent before under this id, so that no start need be looked for.
    bool fresh = true;
    std::optional<Rate> rate;          // what the asker brings
    bool pause_only = false;           // it knows that the key has pauses alone
    bool override_registered = false;  // its rate wins over what is registered with the key
    bool caller = false;               // it does not come back before the time it is told (`admit --ticket`)
    Duration keep = k_runner_keep;     // how long its ticket is kept after the time it was told
    Taking taking = Taking::place;
    std::string who;  // shown by inspect; cut to k_who_bytes
};

enum class AnswerKind : std::uint8_t {
    start,     // start after `wait`, at most 100 ms
    wait,      // ask again after `wait`
    no_limit,  // neither the question nor the key has a rate, and not pause_only
    conflict,  // what is registered has another period than the rate brought
};

enum class WaitCause : std::uint8_t { rate, paused, line };

struct Answer {
    AnswerKind kind = AnswerKind::wait;
    Duration wait{};      // until the start, or until it is worth asking again
    Duration earliest{};  // until this job can start as things stand, never before `wait` ends a grant early
    WaitCause why = WaitCause::rate;
    std::int64_t ahead = 0;     // places in line before it; an estimate beyond 64
    std::int64_t number = 0;    // of its ticket, 0 where it has none
    Duration waited{};          // since its ticket joined the line
    std::int64_t birth_us = 0;  // identifies the state: another one means that the old was lost
    Duration paused_for{};      // what is left of a pause
    bool paused_by_hand = false;
    std::optional<Rate> rate;        // the numbers it was judged by; none: pause only
    std::optional<Rate> registered;  // what the key has registered
    std::optional<Rate> other_rate;  // different numbers that the question before came with
};

// Numbers that a store chooses.
struct StoreTraits {
    Duration come_back;  // how often a waiter asks at the latest: 2 s on the local store, 5 s on Redis
};

Answer ask(KeyRecords&, std::int64_t store_now_us, const Question&, const StoreTraits&);

// Gives a place back. True where there was one.
bool cancel(KeyRecords&, std::int64_t store_now_us, TicketId);

struct PauseRequest {
    Duration length{};  // 1 s to 366 d; ignored when `forever`
    bool forever = false;
    bool by_hand = false;
    std::string note;  // encode(PauseNote); kept when this pause is the longest
};
struct PauseAnswer {
    Duration left{};  // of the pause in force; zero: not paused
    bool forever = false;
    bool changed = false;  // this call moved its end
};
PauseAnswer pause(KeyRecords&, std::int64_t store_now_us, const PauseRequest&);
PauseAnswer resume(KeyRecords&, std::int64_t store_now_us);

// The rate that a question is judged by, given what is registered; pure, for messages and tests.
struct EffectiveRate {
    AnswerKind refusal = AnswerKind::wait;  // no_limit or conflict; otherwise `wait` says nothing
    std::optional<Rate> rate;               // none: pause only
};
EffectiveRate effective_rate(const std::optional<Rate>& brought, const std::optional<Rate>& registered,
                             bool pause_only, bool override_registered);

}  // namespace jobthrottle
