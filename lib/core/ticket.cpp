// SPDX-License-Identifier: MIT
#include "core/ticket.hpp"

#include <algorithm>

#include "base/fields.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_ticket_bytes = 4 + 5 * 8;  // then who, to the end

}  // namespace

TicketId named_ticket(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : name) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash | k_named_ticket_bit;
}

std::int64_t Ticket::deadline_us() const {
    return told_us + (place == Place::in_line ? std::min(k_late, keep) : keep).count();
}

std::string encode(const Ticket& ticket) {
    std::string bytes;
    bytes.reserve(k_ticket_bytes + ticket.who.size());
    bytes.push_back(static_cast<char>(ticket.place));
    bytes.push_back(ticket.caller ? 1 : 0);
    bytes.push_back(static_cast<char>(ticket.wake));
    bytes.push_back(ticket.offered ? 1 : 0);
    for (const auto field :
         {ticket.number, ticket.told_us, ticket.keep.count(), ticket.cost, ticket.since_us})
        put_field(bytes, field);
    return bytes + ticket.who;
}

std::optional<Ticket> decode_ticket(std::string_view bytes) {
    if (bytes.size() < k_ticket_bytes || bytes[0] < 0 || bytes[0] > 2) return std::nullopt;
    if (bytes[2] < 0 || bytes[2] > k_wakes) return std::nullopt;
    Ticket ticket;
    ticket.place = static_cast<Place>(bytes[0]);
    ticket.caller = bytes[1] != 0;
    ticket.wake = static_cast<unsigned char>(bytes[2]);
    ticket.offered = bytes[3] != 0;
    ticket.number = field_at(bytes, 4);
    ticket.told_us = field_at(bytes, 12);
    ticket.keep = Duration{field_at(bytes, 20)};
    ticket.cost = field_at(bytes, 28);
    ticket.since_us = field_at(bytes, 36);
    ticket.who = bytes.substr(k_ticket_bytes, k_who_bytes);
    return ticket;
}

}  // namespace jobthrottle
