// SPDX-License-Identifier: MIT
#pragma once

#include "core/key_records.hpp"

namespace jobthrottle {

// One key opened at one moment: its header, its own time, and the tickets and leases that were over by then
// put where they belong. Everything that changes a key goes through one of these.
class ClockedKey {
public:
    // At most this many tickets, and as many leases, change in one opening.
    static constexpr int k_most_swept = 16;

    ClockedKey(KeyRecords&, std::int64_t store_now_us);

    KeyRecords& records() { return m_records; }
    Header& header() { return m_header; }
    const Header& header() const { return m_header; }
    std::int64_t now_us() const { return m_now_us; }
    bool paused() const { return m_now_us < m_header.paused_until_us; }
    // The key has state from before this moment.
    bool existed() const { return m_existed; }

    std::optional<Ticket> ticket(TicketId id) const;
    // `before` is what ticket(id) gave. A ticket that is not in line has no wake-up.
    void put_ticket(TicketId, Ticket, const std::optional<Ticket>& before);
    void remove_ticket(TicketId, const Ticket&);
    // The lowest wake-up that nobody has, silent; 0 where all are taken.
    std::int64_t free_wake();

    std::optional<Lease> lease(LeaseId id) const;
    void put_lease(LeaseId, const Lease&, const std::optional<Lease>& before);
    void remove_lease(LeaseId, const Lease&);
    // Takes away the places of those whose holders are known to be dead. True: there was one.
    bool drop_dead_leases();
    // A start was given back or a pause ended: the first in line may be able to start, though no place became
    // free.
    void note_room() { m_room = true; }

    // Wakes those that may start now, and writes the header back where it has changed. Of a key that has
    // state that includes the time seen: a time that is not kept could be seen again after the store's clock
    // has stepped back.
    void save();

private:
    std::int64_t& count_of(Place);
    void sweep_tickets();
    void sweep_leases();
    void keep_living_leases();
    void count_lease(const Lease&, std::int64_t by);
    void note_departure();
    void offer_places();
    bool offer_to(std::int64_t free);
    bool offer(TicketId, const Ticket& before);

    KeyRecords& m_records;
    Header m_header;
    Header m_loaded;
    std::int64_t m_now_us = 0;
    bool m_existed = false;
    bool m_room = false;  // something happened that may let another one start
};

// It will learn at once that it may start, or has a caller's right to be waited for. Others learn it only
// when they ask again, and no lease stands empty for them meanwhile: then they have a wake-up, and the next
// one.
bool is_awake(const Ticket&, std::int64_t now_us);

// Of a key with more leases than this only the first, by deadline, are asked whether their holders live.
constexpr std::int64_t k_most_leases_looked_at = 256;
constexpr Duration k_offer = std::chrono::milliseconds{500};  // not taken by then it goes on, k_late later

}  // namespace jobthrottle
