// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/memory_records.hpp"

namespace jobthrottle {

// The records of one key as Redis keeps them (doc/state.md); what is missing is empty.
struct PackedRecords {
    std::string state;
    std::vector<std::pair<std::string, std::string>> tickets;  // id, bytes
    std::string registered;
    std::string note;
};

std::string pack_id(std::uint64_t id);  // 8 bytes, big-endian

enum class RecordsProblem { none, foreign, newer };
struct UnpackedRecords {
    RecordsProblem problem = RecordsProblem::none;
    MemoryRecords records;  // without the recent starts, which no report needs
};
// Takes any bytes: what no jobthrottle wrote is a problem or is left out.
UnpackedRecords unpack(const PackedRecords&);

}  // namespace jobthrottle
