// SPDX-License-Identifier: MIT
// The records of a key in Redis, byte by byte, beside those in memory.
#pragma once

#include <string>
#include <vector>

#include "core/memory_records.hpp"
#include "store/redis/connection.hpp"

namespace jobthrottle::test {

// The commands that look at the records with these names (record_names()), and empty the wake lists.
std::vector<Command> looks_at(const std::vector<std::string>& names);

// What differs, who was woken since the last look, and which record lacks an expiry that it should have; or
// nothing. `replies` are those to looks_at(). `wakes_kept`: the last look was so lately that no wake list has
// expired since.
std::string records_difference(MemoryRecords& records, const std::vector<Reply>& replies, bool wakes_kept);

}  // namespace jobthrottle::test
