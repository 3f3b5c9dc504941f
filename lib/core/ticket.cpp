// SPDX-License-Identifier: MIT
#include "core/ticket.hpp"

#include <algorithm>

namespace jobthrottle {

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

}  // namespace jobthrottle
