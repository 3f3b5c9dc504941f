// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "run/lease_keeper.hpp"

// `admit --follow`: leases that last as long as some process does, on a store that cannot see it.
namespace jobthrottle {

// A process that lives; its pid alone may be given to another when it is gone.
struct Followed {
    pid_t pid = 0;
    std::int64_t began = 0;  // clock ticks since boot
};
// Nothing where there is no such process, or where this system does not show it.
std::optional<Followed> find_followed(pid_t pid);

// Leaves a process behind that renews the leases, each third of the shortest, until the followed one ends,
// and releases them then; it ends when they are released by others. It inherits no descriptor, is in a
// session of its own and nobody's child, so that the caller of this program waits for nothing. `open_store`
// is called in it. Error (internal): it could not be made; the leases run out then.
Result<void> leave_keeper(const Followed& followed, const std::vector<HeldLease>& leases,
                          const OpenStore& open_store);

}  // namespace jobthrottle
