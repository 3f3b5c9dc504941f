// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory_records.hpp"

namespace jobthrottle {

// The records of one key as Redis keeps them (doc/state.md); what is missing is empty.
struct PackedRecords {
    std::string state;
    std::array<std::string, Header::k_rows - 1> logs;          // 1 to 3; log 0 is in the state
    std::vector<std::pair<std::string, std::string>> tickets;  // field, bytes: tickets and leases
    std::string registered;
    std::string note;
};

std::string pack_id(std::uint64_t id);                           // 8 bytes, big-endian
std::optional<LeaseId> unpack_lease_id(std::string_view field);  // "L" and the id
std::optional<Lease> unpack_lease(std::string_view bytes);

enum class RecordsProblem { none, foreign, newer };
struct UnpackedRecords {
    RecordsProblem problem = RecordsProblem::none;
    MemoryRecords records;  // without the recent starts, which no report needs
};
// Takes any bytes: what no jobthrottle wrote is a problem or is left out.
UnpackedRecords unpack(const PackedRecords&);

}  // namespace jobthrottle
