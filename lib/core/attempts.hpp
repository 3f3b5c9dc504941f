// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/key_records.hpp"

// Attempts under way: their leases renewed and released, what they cost settled. decide.lua does the same.
namespace jobthrottle {

struct Renewal {
    LeaseId id = 0;
    Duration lock_for{};  // from now; zero: what it was taken for
    // Where not empty: the processes that live as long as the attempt, from now on.
    std::string processes = {};
    // With a concurrency (0: not wanted) a place is taken anew where the key has another state than the one
    // that it was taken in, whose birth is given here: the store has lost that, and its holder lives.
    std::int64_t concurrency = 0;
    std::int64_t birth_us = 0;
    std::string who = {};
};
enum class LeaseState : std::uint8_t {
    held,
    retaken,  // it had run out, or was lost with the state, and there was room: held again
    lost,     // likewise, and there is no room
    unknown,  // there is no such lease: never taken, released, or lost with the state or long ago
};
struct LeaseAnswer {
    LeaseState state = LeaseState::unknown;
    Duration lost_for{};  // with retaken and lost: since it ran out
};
LeaseAnswer renew(KeyRecords&, std::int64_t store_now_us, const Renewal&);

// The attempt is over: its place is free and the next in line is woken. With `give_back` its start is taken
// out of the window, too (an attempt that failed where successes count, or a start that was not used).
struct Release {
    LeaseId id = 0;
    bool give_back = false;
};
// `held`: it was held until now. `retaken` is never answered.
LeaseAnswer release(KeyRecords&, std::int64_t store_now_us, const Release&);

// All leases of the key, or only those whose holders are dead. Returns those that were held.
std::vector<std::pair<LeaseId, Lease>> release_leases(KeyRecords&, std::int64_t store_now_us, bool only_dead);

// The true cost of an attempt in the place of what it was counted as: gives back or charges more, at the time
// of its start. At least 0, at most k_most_cost.
constexpr std::int64_t k_most_cost = 1'000'000'000;
struct Settlement {
    LeaseId id = 0;
    std::int64_t cost = 1;
};
struct SettleAnswer {
    LeaseState state = LeaseState::unknown;  // held: it was done; lost: likewise, for the start counts still
    std::int64_t cost_before = 0;
};
SettleAnswer settle(KeyRecords&, std::int64_t store_now_us, const Settlement&);

// Undoes a start that a key elsewhere refused after all, for keys of a job that cannot be asked in one
// decision: start and lease are taken back, and the place in line that it had before, as that of a caller
// that is away.
struct GiveBack {
    StartId id = 0;
    std::int64_t cost = 1;  // what the question came with
    TicketId place = 0;
    std::int64_t number = 0;  // of the ticket; 0: it had none
    Duration waited{};        // by the ticket
    std::string who;
};
bool give_back(KeyRecords&, std::int64_t store_now_us, const GiveBack&);  // false: there is no such start

}  // namespace jobthrottle
