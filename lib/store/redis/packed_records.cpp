// SPDX-License-Identifier: MIT
#include "store/redis/packed_records.hpp"

#include <algorithm>
#include <string_view>

#include "base/fields.hpp"
#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_lease_bytes = 35;
constexpr std::size_t k_id_bytes = 8;

std::uint64_t unpack_id(std::string_view bytes) {
    std::uint64_t id = 0;
    for (const char c : bytes)
        id = id << 8 | static_cast<unsigned char>(c);
    return id;
}

// The reading of a log relies on these.
bool log_is_sound(const LimitRow& row) {
    if (row.log_group == 0) return true;
    return row.log_group >= 1 && row.log_capacity >= 0 && row.log_capacity <= k_log_entries &&
           row.log_total >= 0 && (row.log_total == 0 || row.log_capacity > 0) && row.log_fill >= 0 &&
           row.log_fill <= row.log_group;
}

std::vector<std::int64_t> unpack_log(std::string_view bytes, const LimitRow& row, std::int64_t unknown_us) {
    std::vector<std::int64_t> entries;
    const std::int64_t kept = row.log_group == 0 ? 0 : std::min(row.log_total, row.log_capacity);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kept); ++i) {
        const std::size_t at = i * k_short_time_bytes;
        entries.push_back(at + k_short_time_bytes <= bytes.size() ? field_at(bytes, at, k_short_time_bytes)
                                                                  : shorten(unknown_us));
    }
    return entries;
}

}  // namespace

std::optional<LeaseId> unpack_lease_id(std::string_view field) {
    if (field.size() != 1 + k_id_bytes || field[0] != 'L') return std::nullopt;
    return unpack_id(field.substr(1));
}

std::optional<Lease> unpack_lease(std::string_view bytes) {
    if (bytes.size() < k_lease_bytes) return std::nullopt;
    Lease lease;
    lease.held = bytes[0] != 0;
    lease.place = bytes[1] != 0;
    lease.open = bytes[2] != 0;
    lease.cost = field_at(bytes, 3);
    lease.at_us = field_at(bytes, 11);
    lease.until_us = field_at(bytes, 19);
    lease.length_us = field_at(bytes, 27);
    lease.who = std::string(bytes.substr(k_lease_bytes, k_who_bytes));
    return lease;
}

std::string pack_id(std::uint64_t id) {
    std::string bytes(k_id_bytes, '\0');
    for (std::size_t i = k_id_bytes; i-- > 0; id >>= 8)
        bytes[i] = static_cast<char>(id & 0xFF);
    return bytes;
}

namespace {

// What is no ticket and no lease is left out.
void put_unpacked(MemoryRecords& records, const std::string& field, const std::string& bytes) {
    if (const auto lease_id = unpack_lease_id(field)) {
        if (const auto lease = unpack_lease(bytes)) records.put_lease(*lease_id, *lease);
        return;
    }
    const auto ticket = decode_ticket(bytes);
    if (field.size() == k_id_bytes && ticket) records.put_ticket(unpack_id(field), *ticket);
}

}  // namespace

UnpackedRecords unpack(const PackedRecords& packed) {
    UnpackedRecords unpacked;
    MemoryRecords& records = unpacked.records;
    if (!packed.registered.empty()) records.put_registration(decode_registration(packed.registered));
    records.put_pause_note(packed.note);
    if (packed.state.empty()) return unpacked;

    HeaderProblem problem = HeaderProblem::none;
    auto header = decode_header(packed.state, &problem);
    if (!header || !std::all_of(header->rows.begin(), header->rows.end(), log_is_sound)) {
        unpacked.problem = problem == HeaderProblem::newer ? RecordsProblem::newer : RecordsProblem::foreign;
        return unpacked;
    }
    for (std::size_t log = 1; log < Header::k_rows; ++log) {  // one that was evicted begins anew
        if (packed.logs[log - 1].empty()) header->rows[log].log_total = header->rows[log].log_fill = 0;
    }
    records.put_header(*header);
    for (std::size_t log = 0; log < Header::k_rows; ++log) {
        const std::string_view bytes =
            log == 0 ? std::string_view(packed.state).substr(Header::k_bytes) : packed.logs[log - 1];
        records.replace_log(log, unpack_log(bytes, header->rows[log], header->last_start_us));
    }
    for (const auto& [field, bytes] : packed.tickets)
        put_unpacked(records, field, bytes);
    return unpacked;
}

}  // namespace jobthrottle
