// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/local/environment.hpp"

struct MDB_txn;
struct MDB_cursor;

namespace jobthrottle::local {

// One write transaction over the records of a file; readers take one, too. Every record carries a checksum
// over its key and payload, put and checked here. The first failure is kept; after it reads find nothing and
// writes do nothing. Without commit() nothing was written.
//
// Views that it gives are valid until the next put() or remove().
class Transaction {
public:
    struct Entry {
        std::string_view key, payload;
    };

    explicit Transaction(Environment&);  // REQUIRES: open, no other one under way
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    std::optional<std::string_view> get(std::string_view key);
    void put(std::string_view key, std::string_view payload);
    void remove(std::string_view key);  // fine where there is none

    // The first record at or after the key (empty: of all), and then the ones that follow.
    std::optional<Entry> first_from(std::string_view key);
    std::optional<Entry> next();  // REQUIRES: first_from() found one, and no write since

    const Failure& failure() const { return m_failure; }
    void fail(const Failure& failure);
    void fail_damaged() { fail({Fault::damaged, 0}); }

    bool has_written() const { return m_written; }
    bool commit();  // the last call; false: see failure()

private:
    std::optional<Entry> move(int operation, std::string_view key);
    std::optional<std::string_view> payload_of(std::string_view key, std::string_view value);
    bool found(int code);

    MDB_txn* m_txn = nullptr;
    MDB_cursor* m_cursor = nullptr;
    unsigned m_records = 0;  // LMDB's handle
    bool m_written = false;
    Failure m_failure;
    std::string m_value;
};

}  // namespace jobthrottle::local
