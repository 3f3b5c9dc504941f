// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/key_records.hpp"
#include "core/memory_records.hpp"
#include "store/local/bytes.hpp"
#include "store/local/key_table.hpp"

namespace jobthrottle::local {

// What the local store keeps of one key, within one transaction; a failure is the transaction's. The log and
// the recent starts stand in chunks, so that a start writes a few hundred bytes whatever the limit is.
class LocalRecords final : public KeyRecords {
public:
    LocalRecords(Transaction&, KeyTable&, std::string_view name);  // `name` must outlive it

    std::optional<Header> header() const override;
    void put_header(const Header&) override;
    void clear() override;

    std::int64_t log_entry(std::int64_t position) const override;
    void put_log_entry(std::int64_t position, std::int64_t short_us) override;
    void replace_log(const std::vector<std::int64_t>& short_times) override;

    std::optional<RecentStart> find_recent(StartId) const override;
    void put_recent(std::int64_t position, const RecentStart&) override;

    std::optional<Ticket> ticket(TicketId) const override;
    void put_ticket(TicketId, const Ticket&) override;
    void remove_ticket(TicketId) override;
    std::int64_t in_line_before(std::int64_t number, std::int64_t at_most) const override;
    std::int64_t number_in_line(std::int64_t place) const override;
    std::optional<std::int64_t> lowest_away_number() const override;
    std::optional<std::pair<TicketId, Ticket>> next_due() const override;

    std::optional<Registration> registration() const override;
    void put_registration(const std::optional<Registration>&) override;
    std::string pause_note() const override;
    void put_pause_note(const std::string&) override;

    // Every call that changes a key ends with this: a key with nothing left is taken from the table, a new
    // one put in the order of expiry.
    void settle(const Moment&);
    // The first in the order of expiry was due: drops what is not needed any more, or puts it further back.
    void expire(const Moment&);

    // All that inspect needs, which is all but the ids of recent starts.
    MemoryRecords copy() const;

private:
    RecordKey key(char kind) const { return RecordKey('K').id(m_row.id).letter(kind); }
    bool known() const { return m_row.id != 0; }
    void be_known();
    std::string chunk_with(char kind, std::int64_t chunk, std::size_t bytes) const;
    void add_orders(TicketId, const Ticket&);
    void remove_orders(TicketId, const Ticket&);
    // How long the note of the last pause is still kept; zero or less: not any more, or there is none.
    std::int64_t note_left_us(const Moment&) const;

    Transaction& m_txn;
    KeyTable& m_table;
    std::string_view m_name;
    KeyTable::Row m_row;  // id 0: the key has no records
    // A place in line and the number there, as long as nothing moves: who counts up to a place asks for it
    // next.
    mutable std::optional<std::pair<std::int64_t, std::int64_t>> m_last_walked;
};

}  // namespace jobthrottle::local
