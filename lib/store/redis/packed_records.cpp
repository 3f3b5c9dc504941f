// SPDX-License-Identifier: MIT
#include "store/redis/packed_records.hpp"

#include <algorithm>
#include <string_view>

#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_ticket_bytes = 34;
constexpr std::size_t k_id_bytes = 8;

std::int64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return static_cast<std::int64_t>(value);
}

std::uint64_t unpack_id(std::string_view bytes) {
    std::uint64_t id = 0;
    for (const char c : bytes)
        id = id << 8 | static_cast<unsigned char>(c);
    return id;
}

std::optional<Ticket> unpack_ticket(std::string_view bytes) {
    if (bytes.size() < k_ticket_bytes || bytes[0] < 0 || bytes[0] > 2) return std::nullopt;
    Ticket ticket;
    ticket.place = static_cast<Place>(bytes[0]);
    ticket.caller = bytes[1] != 0;
    ticket.number = little_endian(bytes.substr(2, 8));
    ticket.told_us = little_endian(bytes.substr(10, 8));
    ticket.keep = Duration{little_endian(bytes.substr(18, 8))};
    ticket.since_us = little_endian(bytes.substr(26, 8));
    ticket.who = std::string(bytes.substr(k_ticket_bytes, k_who_bytes));
    return ticket;
}

// The reading of a log relies on these.
bool log_is_sound(const Header& header) {
    return header.log_group >= 1 && header.log_capacity >= 0 && header.log_capacity <= k_log_entries &&
           header.log_total >= 0 && (header.log_total == 0 || header.log_capacity > 0) &&
           header.log_fill >= 0 && header.log_fill <= header.log_group;
}

}  // namespace

std::string pack_id(std::uint64_t id) {
    std::string bytes(k_id_bytes, '\0');
    for (std::size_t i = k_id_bytes; i-- > 0; id >>= 8)
        bytes[i] = static_cast<char>(id & 0xFF);
    return bytes;
}

UnpackedRecords unpack(const PackedRecords& packed) {
    UnpackedRecords unpacked;
    MemoryRecords& records = unpacked.records;
    if (!packed.registered.empty()) records.put_registration(decode_registration(packed.registered));
    records.put_pause_note(packed.note);
    if (packed.state.empty()) return unpacked;

    HeaderProblem problem = HeaderProblem::none;
    const auto header = decode_header(packed.state, &problem);
    if (!header || !log_is_sound(*header)) {
        unpacked.problem = problem == HeaderProblem::newer ? RecordsProblem::newer : RecordsProblem::foreign;
        return unpacked;
    }
    records.put_header(*header);
    const std::string_view log = std::string_view(packed.state).substr(Header::k_bytes);
    std::vector<std::int64_t> entries;
    const std::int64_t kept = std::min(header->log_total, header->log_capacity);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kept); ++i) {
        const std::size_t at = i * k_short_time_bytes;
        entries.push_back(at + k_short_time_bytes <= log.size()
                              ? little_endian(log.substr(at, k_short_time_bytes))
                              : shorten(header->last_start_us));
    }
    records.replace_log(entries);
    for (const auto& [id, bytes] : packed.tickets) {
        const auto ticket = unpack_ticket(bytes);
        if (id.size() == k_id_bytes && ticket) records.put_ticket(unpack_id(id), *ticket);
    }
    return unpacked;
}

}  // namespace jobthrottle
