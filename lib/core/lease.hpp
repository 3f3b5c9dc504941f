// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "core/ticket.hpp"

namespace jobthrottle {

// An attempt under way that a key keeps account of: because it holds one of the key's places, or because what
// it costs is settled later. Named by the id of its start. Times are the key's.
struct Lease {
    // False: it ran out and holds nothing any more; kept for a while, to say since when.
    bool held = true;
    bool place = true;       // takes one of the key's concurrency places
    bool open = false;       // counts in the window as long as it is under way (--count successes)
    std::int64_t cost = 1;   // starts that it is counted as
    std::int64_t at_us = 0;  // the start
    std::int64_t until_us = 0;
    std::int64_t length_us = 0;  // of a renewal
    std::string who;             // "NAME user@host:pid", for inspect; at most k_who_bytes
    // The processes that live as long as the attempt, as the store wrote it: core only keeps it.
    std::string processes;

    std::int64_t deadline_us() const { return held ? until_us : until_us + k_lost_lease_kept.count(); }
    static constexpr Duration k_lost_lease_kept = std::chrono::minutes{10};
};

using LeaseId = StartId;
constexpr std::size_t k_processes_bytes = 120;

// What is known of the processes of a lease's holder.
enum class HolderLife {
    unknown,  // they cannot be seen from here: the lease lasts as long as it says
    alive,    // at least one lives: it lasts, whatever it says
    dead,     // none does: it is over, whatever it says
};

}  // namespace jobthrottle
