// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/local/transaction.hpp"

namespace jobthrottle::local {

// The time of one transaction.
struct Moment {
    std::int64_t now_us = 0;   // the store's clock: since boot
    std::int64_t wall_us = 0;  // since the epoch
};

// The one record about the file itself.
struct StoreRecord {
    static constexpr std::int64_t k_version = 2;
    std::uint64_t boot = 0;               // names the boot that the times belong to
    std::int64_t wall_minus_boot_us = 0;  // so that a pause can be carried over a reboot
    std::uint64_t next_id = 1;
};
// Nothing where there is none: no file of ours. Fails with Fault::newer for a later version.
std::optional<StoreRecord> read_store_record(Transaction&);
void put_store_record(Transaction&, const StoreRecord&);

// The names of the keys: each has a number, since a name is too long for what its records are sorted by, and
// may stand in the order of expiry, which says when it is worth looking whether the key is still needed.
// doc/local-store.md describes the records.
class KeyTable {
public:
    struct Row {
        std::uint64_t id = 0;
        std::int64_t indexed_us = 0;  // its place in the order of expiry; 0: none
    };
    struct Due {
        std::string name;
        Row row;
    };

    explicit KeyTable(Transaction& txn) : m_txn(txn) {}

    std::optional<Row> find(std::string_view name);
    Row make(std::string_view name);  // REQUIRES: there is none
    void remove(std::string_view name, const Row&);

    // Moves the key in the order of expiry; 0 takes it out. Changes the row.
    void index(std::string_view name, Row&, std::int64_t at_us);
    // The first in the order, if it is due.
    std::optional<Due> first_due(std::int64_t now_us);
    void drop_from_order(const Row&);  // an entry that no key knows of

    // Gives the key a new number; the records of the old one are dropped bit by bit.
    void renumber(std::string_view name, Row&);
    // Drops up to `at_most` records that renumber() has left.
    void drop_leftovers(int at_most);

    // The names in byte order. REQUIRES: `each` writes nothing.
    template <typename Each>
    void each_name(Each&& each) {
        for (auto entry = m_txn.first_from("N"); entry && entry->key.front() == 'N'; entry = m_txn.next())
            each(entry->key.substr(1));
    }

private:
    std::uint64_t new_id();

    Transaction& m_txn;
};

}  // namespace jobthrottle::local
