// SPDX-License-Identifier: MIT
#pragma once

#include "core/key_records.hpp"

namespace jobthrottle {

// One key opened at one moment: its header, its own time, and the tickets that were late by then put where
// they belong. Everything that changes a key goes through one of these.
class ClockedKey {
public:
    // At most this many tickets step out or are forgotten in one opening.
    static constexpr int k_most_swept = 16;

    ClockedKey(KeyRecords&, std::int64_t store_now_us);

    KeyRecords& records() { return m_records; }
    Header& header() { return m_header; }
    std::int64_t now_us() const { return m_now_us; }
    // The key has state from before this moment.
    bool existed() const { return m_existed; }

    std::optional<Ticket> ticket(TicketId id) const;
    // `before` is what ticket(id) gave.
    void put_ticket(TicketId, const Ticket&, const std::optional<Ticket>& before);
    void remove_ticket(TicketId, const Ticket&);

    // Writes the header back where it has changed. Of a key that has state that includes the time seen: a
    // time that is not kept could be seen again after the store's clock has stepped back.
    void save();

private:
    std::int64_t& count_of(Place);
    void sweep();

    KeyRecords& m_records;
    Header m_header;
    Header m_loaded;
    std::int64_t m_now_us = 0;
    bool m_existed = false;
};

}  // namespace jobthrottle
