// SPDX-License-Identifier: MIT
#include "store/local/key_table.hpp"

#include "store/local/bytes.hpp"

namespace jobthrottle::local {

namespace {

constexpr std::string_view k_tag{"jobthrottle\0", 12};
constexpr std::string_view k_store_key = "S";

RecordKey name_key(std::string_view name) {
    return RecordKey('N').text(name);
}

RecordKey expiry_key(const KeyTable::Row& row) {
    return RecordKey('E').number(row.indexed_us).id(row.id);
}

void put_row(Transaction& txn, std::string_view name, const KeyTable::Row& row) {
    std::string payload;
    put_field(payload, static_cast<std::int64_t>(row.id));
    put_field(payload, row.indexed_us);
    txn.put(name_key(name), payload);
}

}  // namespace

std::optional<StoreRecord> read_store_record(Transaction& txn) {
    const auto payload = txn.get(k_store_key);
    if (!payload || payload->size() < k_tag.size() + 8 || payload->substr(0, k_tag.size()) != k_tag)
        return std::nullopt;
    const auto field = [&](std::size_t i) { return field_at(*payload, k_tag.size() + 8 * i); };
    if (field(0) > StoreRecord::k_version) txn.fail({Fault::newer, 0});
    if (field(0) != StoreRecord::k_version || payload->size() < k_tag.size() + 32) return std::nullopt;
    return StoreRecord{static_cast<std::uint64_t>(field(1)), field(2), static_cast<std::uint64_t>(field(3))};
}

void put_store_record(Transaction& txn, const StoreRecord& record) {
    std::string payload(k_tag);
    put_field(payload, StoreRecord::k_version);
    put_field(payload, static_cast<std::int64_t>(record.boot));
    put_field(payload, record.wall_minus_boot_us);
    put_field(payload, static_cast<std::int64_t>(record.next_id));
    txn.put(k_store_key, payload);
}

std::optional<KeyTable::Row> KeyTable::find(std::string_view name) {
    const auto payload = m_txn.get(name_key(name));
    if (!payload) return std::nullopt;
    if (payload->size() != 16) {
        m_txn.fail_damaged();
        return std::nullopt;
    }
    return Row{static_cast<std::uint64_t>(field_at(*payload, 0)), field_at(*payload, 8)};
}

std::uint64_t KeyTable::new_id() {
    auto record = read_store_record(m_txn);
    if (!record) {
        m_txn.fail_damaged();
        return 0;
    }
    const std::uint64_t id = record->next_id++;
    put_store_record(m_txn, *record);
    return id;
}

KeyTable::Row KeyTable::make(std::string_view name) {
    const Row row{new_id(), 0};
    put_row(m_txn, name, row);
    return row;
}

void KeyTable::remove(std::string_view name, const Row& row) {
    if (row.indexed_us != 0) m_txn.remove(expiry_key(row));
    m_txn.remove(name_key(name));
}

void KeyTable::index(std::string_view name, Row& row, std::int64_t at_us) {
    if (row.indexed_us != 0) m_txn.remove(expiry_key(row));
    row.indexed_us = at_us;
    if (at_us != 0) m_txn.put(expiry_key(row), name);
    put_row(m_txn, name, row);
}

std::optional<KeyTable::Due> KeyTable::first_due(std::int64_t now_us) {
    const auto entry = m_txn.first_from("E");
    if (!entry || entry->key.front() != 'E') return std::nullopt;
    if (entry->key.size() != 17) {
        m_txn.fail_damaged();
        return std::nullopt;
    }
    const Row row{RecordKey::id_at(entry->key, 9), RecordKey::number_at(entry->key, 1)};
    if (row.indexed_us >= now_us) return std::nullopt;
    return Due{std::string(entry->payload), row};
}

void KeyTable::drop_from_order(const Row& row) {
    m_txn.remove(expiry_key(row));
}

void KeyTable::renumber(std::string_view name, Row& row) {
    const std::int64_t indexed_us = row.indexed_us;
    const std::uint64_t old_id = row.id;
    index(name, row, 0);
    row.id = new_id();
    index(name, row, indexed_us);
    m_txn.put(RecordKey('G').id(old_id), {});
}

void KeyTable::drop_leftovers(int at_most) {
    const auto entry = m_txn.first_from("G");
    if (!entry || entry->key.front() != 'G' || entry->key.size() != 9) return;
    const std::uint64_t id = RecordKey::id_at(entry->key, 1);
    const RecordKey prefix = RecordKey('K').id(id);
    for (int dropped = 0; dropped < at_most; ++dropped) {
        const auto record = m_txn.first_from(prefix);
        if (!record || record->key.substr(0, 9) != prefix.view()) {
            m_txn.remove(RecordKey('G').id(id));
            return;
        }
        m_txn.remove(std::string(record->key));
    }
}

}  // namespace jobthrottle::local
