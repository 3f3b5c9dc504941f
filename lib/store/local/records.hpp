// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/key_records.hpp"
#include "core/memory_records.hpp"
#include "store/local/bytes.hpp"
#include "store/local/key_table.hpp"
#include "store/local/record_kinds.hpp"
#include "store/local/wake_files.hpp"

namespace jobthrottle::local {

// What the local store keeps of one key, within one transaction; a failure is the transaction's. Logs and
// recent starts stand in chunks, so that a start writes a few hundred bytes whatever the limit is. Several
// keys may be at work in one transaction, one call after the other.
class LocalRecords final : public KeyRecords {
public:
    // All is borrowed. Without a waker nobody is woken.
    LocalRecords(Transaction&, KeyTable&, std::string_view name, Waker* waker = nullptr);

    std::optional<Header> header() const override;
    void put_header(const Header&) override;
    void clear() override;

    std::int64_t log_entry(std::size_t log, std::int64_t position) const override;
    void put_log_entries(std::size_t log, std::int64_t position, std::int64_t count,
                         std::int64_t short_us) override;
    void replace_log(std::size_t log, const std::vector<std::int64_t>& short_times) override;

    std::optional<RecentStart> find_recent(StartId) const override;
    void put_recent(std::int64_t position, const RecentStart&) override;
    void drop_recent(StartId) override;

    std::optional<Ticket> ticket(TicketId) const override;
    void put_ticket(TicketId, const Ticket&) override;
    void remove_ticket(TicketId) override;
    std::int64_t in_line_before(std::int64_t number, std::int64_t at_most) const override;
    std::vector<LinePlace> line_head(std::int64_t count) const override;
    std::optional<LinePlace> lowest_away() const override;
    std::optional<std::pair<TicketId, Ticket>> next_due() const override;

    std::optional<Lease> lease(LeaseId) const override;
    void put_lease(LeaseId, const Lease&) override;
    void remove_lease(LeaseId) override;
    std::optional<std::pair<LeaseId, Lease>> next_lease_due() const override;
    std::int64_t open_since(std::int64_t at_us, std::int64_t at_most) const override;
    std::vector<std::pair<LeaseId, Lease>> leases(std::int64_t at_most) const override;
    HolderLife life_of(const Lease&) const override;

    bool wake(TicketId, std::int64_t wake) override;
    void silence(std::int64_t) override {}  // each ticket has a file of its own

    std::optional<Registration> registration() const override;
    void put_registration(const std::optional<Registration>&) override;
    std::string pause_note() const override;
    void put_pause_note(const std::string&) override;

    // Every call that changes a key ends with this: a key with nothing left is taken from the table, a new
    // one put in the order of expiry.
    void settle(const Moment&);
    // The first in the order of expiry was due: drops what is not needed any more, or puts it further back. A
    // lease whose holder lives keeps its key.
    void expire(const Moment&);

    // All that inspect needs, which is all but the ids of recent starts. It knows the lives of holders.
    MemoryRecords copy() const;

private:
    RecordKey key(char kind) const { return RecordKey('K').id(m_row.id).letter(kind); }
    bool known() const { return m_row.id != 0; }
    void be_known();
    std::string chunk_with(char kind, std::int64_t chunk, std::size_t bytes) const;
    std::vector<std::int64_t> log_entries(std::size_t log, std::int64_t count) const;
    void add_orders(TicketId, const Ticket&);
    void remove_orders(TicketId, const Ticket&);
    void copy_tickets(MemoryRecords&) const;
    void add_orders(LeaseId, const Lease&);
    void remove_orders(LeaseId, const Lease&);
    void copy_leases(MemoryRecords&) const;
    // Walks the records of a kind in order, at most so many, as long as `each` says true. It writes nothing.
    template <typename Each>
    void walk(char kind, std::int64_t at_most, Each&& each) const {
        if (!known() || at_most <= 0) return;
        const RecordKey prefix = key(kind);
        auto entry = m_txn.first_from(prefix);
        while (entry && entry->key.substr(0, k_number_at) == prefix.view() && each(*entry) && --at_most > 0)
            entry = m_txn.next();
    }
    // How long the note of the last pause is still kept; zero or less: not any more, or there is none.
    std::int64_t note_left_us(const Moment&) const;
    bool has_live_holder() const;

    Transaction& m_txn;
    KeyTable& m_table;
    std::string_view m_name;
    Waker* m_waker;
    KeyTable::Row m_row;  // id 0: the key has no records
};

}  // namespace jobthrottle::local
