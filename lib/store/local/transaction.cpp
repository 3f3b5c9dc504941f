// SPDX-License-Identifier: MIT
#include "store/local/transaction.hpp"

#include <lmdb.h>

#include "store/local/bytes.hpp"

namespace jobthrottle::local {

namespace {

MDB_val value_of(std::string_view bytes) {
    return {bytes.size(), const_cast<char*>(bytes.data())};  // LMDB does not write through it
}

std::string_view view_of(const MDB_val& value) {
    return {static_cast<const char*>(value.mv_data), value.mv_size};
}

}  // namespace

Transaction::Transaction(Environment& environment) {
    int code = mdb_txn_begin(environment.handle(), nullptr, 0, &m_txn);
    if (code == MDB_MAP_RESIZED) {
        fail(environment.adopt_map());
        if (!m_failure) code = mdb_txn_begin(environment.handle(), nullptr, 0, &m_txn);
    }
    if (code == 0) code = mdb_dbi_open(m_txn, nullptr, 0, &m_records);
    fail(failure_of(code));
}

Transaction::~Transaction() {
    if (m_cursor != nullptr) mdb_cursor_close(m_cursor);
    if (m_txn != nullptr) mdb_txn_abort(m_txn);
}

void Transaction::fail(const Failure& failure) {
    if (!m_failure) m_failure = failure;
}

bool Transaction::found(int code) {
    if (code == 0) return true;
    if (code != MDB_NOTFOUND) fail(failure_of(code));
    return false;
}

std::optional<std::string_view> Transaction::payload_of(std::string_view key, std::string_view value) {
    if (value.size() >= k_checksum_bytes) {
        const auto payload = value.substr(0, value.size() - k_checksum_bytes);
        const auto sum = static_cast<std::uint64_t>(field_at(value, payload.size()));
        if (sum == checksum(key, payload)) return payload;
    }
    fail_damaged();
    return std::nullopt;
}

std::optional<std::string_view> Transaction::get(std::string_view key) {
    if (m_failure) return std::nullopt;
    MDB_val name = value_of(key), value{};
    if (!found(mdb_get(m_txn, m_records, &name, &value))) return std::nullopt;
    return payload_of(key, view_of(value));
}

void Transaction::put(std::string_view key, std::string_view payload) {
    if (m_failure) return;
    m_value.assign(payload);
    put_field(m_value, static_cast<std::int64_t>(checksum(key, payload)));
    MDB_val name = value_of(key), value = value_of(m_value);
    fail(failure_of(mdb_put(m_txn, m_records, &name, &value, 0)));
    m_written = true;
}

void Transaction::remove(std::string_view key) {
    if (m_failure) return;
    MDB_val name = value_of(key);
    if (found(mdb_del(m_txn, m_records, &name, nullptr))) m_written = true;
}

std::optional<Transaction::Entry> Transaction::first_from(std::string_view key) {
    return move(key.empty() ? MDB_FIRST : MDB_SET_RANGE, key);
}

std::optional<Transaction::Entry> Transaction::next() {
    return move(MDB_NEXT, {});
}

std::optional<Transaction::Entry> Transaction::move(int operation, std::string_view key) {
    if (m_failure) return std::nullopt;
    if (m_cursor == nullptr) {
        fail(failure_of(mdb_cursor_open(m_txn, m_records, &m_cursor)));
        if (m_failure) return std::nullopt;
    }
    MDB_val name = value_of(key), value{};
    if (!found(mdb_cursor_get(m_cursor, &name, &value, static_cast<MDB_cursor_op>(operation))))
        return std::nullopt;
    const auto payload = payload_of(view_of(name), view_of(value));
    if (!payload) return std::nullopt;
    return Entry{view_of(name), *payload};
}

bool Transaction::commit() {
    if (m_cursor != nullptr) mdb_cursor_close(m_cursor);
    m_cursor = nullptr;
    if (m_failure) return false;
    const int code = mdb_txn_commit(m_txn);
    m_txn = nullptr;
    fail(failure_of(code));
    return !m_failure;
}

}  // namespace jobthrottle::local
