// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/key_records.hpp"
#include "core/terms.hpp"
#include "core/ticket.hpp"

// When may a job start? One pure decision over the records of a key, or of several, the same in every store;
// decide.lua makes it inside Redis and tests hold the two equal, answer by answer and byte by byte.
// doc/algorithm.md explains it.
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
    Terms terms;                       // what the asker brings
    bool pause_only = false;           // it knows that the key has pauses alone
    bool override_registered = false;  // its terms win over what is registered with the key
    std::int64_t cost = 1;             // starts that it counts as
    // A plain window in which a start that is given back does not count and one under way does.
    bool count_successes = false;
    // It wants to settle its cost later, so that it is kept account of like one that holds a lease.
    bool settles = false;
    Duration lock_for = std::chrono::seconds{60};  // of a lease
    std::optional<std::int64_t> max_waiting;       // a newcomer takes no place where so many wait
    std::vector<LeaseId> ancestors;                // leases of the runs that this one runs in
    // Another key of the job, in another store, has to agree first: takes no start. Where one is possible the
    // answer is `start` and the place is kept as that of a caller that is away.
    bool hold = false;
    bool caller = false;            // it does not come back before the time it is told (`admit --ticket`)
    Duration keep = k_runner_keep;  // how long its ticket is kept after the time it was told
    Taking taking = Taking::place;
    std::string who;        // shown by inspect; cut to k_who_bytes
    std::string processes;  // of a lease; cut to k_processes_bytes
};

enum class AnswerKind : std::uint8_t {
    start,       // start after `wait`, at most 100 ms
    wait,        // ask again after `wait`
    no_limit,    // neither the question nor the key has a limit, and not pause_only
    conflict,    // more than four limits with those that are registered
    too_costly,  // it could never start: cost above what a limit allows at once
    nested,      // an ancestor holds a lease of the key
    crowded,     // max_waiting wait already; no place was taken
};

enum class WaitCause : std::uint8_t {
    rate,
    paused,
    line,   // those ahead
    lease,  // all places are taken, or those under way may succeed
};

struct Answer {
    AnswerKind kind = AnswerKind::wait;
    Duration wait{};      // until the start, or until it is worth asking again
    Duration earliest{};  // until this job can start as far as is known; for leases nothing is
    WaitCause why = WaitCause::rate;
    std::int64_t ahead = 0;     // places in line before it; an estimate beyond 64
    std::int64_t number = 0;    // of its ticket, 0 where it has none
    Duration waited{};          // since its ticket joined the line
    std::int64_t birth_us = 0;  // identifies the state: another one means that the old was lost
    Duration paused_for{};      // what is left of a pause
    bool paused_by_hand = false;
    bool leased = false;              // with a start: a lease was taken, named by the question's id
    std::int64_t wake = 0;            // the wake-up its ticket has, 0: none
    std::int64_t places = 0;          // concurrency places in use, its own included
    std::int64_t waiting = 0;         // tickets in line, its own included
    Terms terms;                      // the numbers it was judged by; empty: pause only
    std::optional<Terms> registered;  // what the key has registered
    std::optional<Terms> other;       // different numbers that the question before came with
};

// Numbers that a store chooses.
struct StoreTraits {
    Duration come_back;  // how often a waiter asks at the latest: 2 s on the local store, 5 s on Redis
};

Answer ask(KeyRecords&, std::int64_t store_now_us, const Question&, const StoreTraits&);

// One job that several keys must let start: it starts on all of them or on none. A key that would let it
// start while another makes it wait keeps its place as that of a caller that is away, and loses nothing by
// it. All waits are the same; the answers are in the order of the questions. One that is refused (no_limit,
// conflict, too_costly, nested, crowded) keeps the others from taking anything.
struct KeyQuestion {
    KeyRecords* records = nullptr;
    const Question* question = nullptr;
};
std::vector<Answer> ask(const std::vector<KeyQuestion>&, std::int64_t store_now_us, const StoreTraits&);

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

// What a question is judged by, given what is registered; pure, for messages and tests.
struct EffectiveTerms {
    AnswerKind refusal = AnswerKind::wait;  // no_limit or conflict; otherwise `wait` says nothing
    Terms terms;                            // empty: pause only
};
EffectiveTerms effective_terms(const Terms& brought, const std::optional<Terms>& registered, bool pause_only,
                               bool override_registered);

}  // namespace jobthrottle
