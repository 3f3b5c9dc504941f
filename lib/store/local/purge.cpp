// SPDX-License-Identifier: MIT
#include "store/local/purge.hpp"

#include <algorithm>

#include "core/clocked_key.hpp"
#include "core/report.hpp"
#include "store/local/processes.hpp"
#include "store/local/records.hpp"

namespace jobthrottle::local {

namespace {

constexpr std::int64_t k_grace_us = 60'000'000;  // a busy key is looked at no more often than this
constexpr std::int64_t k_second_us = 1'000'000;
constexpr std::int64_t k_note_kept_us = std::int64_t{7} * 86'400 * k_second_us;
constexpr int k_keys_at_once = 2;
constexpr int k_leftovers_at_once = 64;

std::int64_t looked_at_us(const Header& header, const Moment& moment) {
    return std::max(header.matters_until_us() - header.offset_us, moment.now_us) + k_grace_us;
}

}  // namespace

std::int64_t LocalRecords::note_left_us(const Moment& moment) const {
    const auto note = decode_pause_note(pause_note());
    if (!note) return 0;
    return std::min(note->at_s * k_second_us + k_note_kept_us - moment.wall_us, k_note_kept_us);
}

void LocalRecords::settle(const Moment& moment) {
    if (!known() || m_row.indexed_us != 0 || !m_txn.has_written()) return;
    if (const auto header = this->header()) {
        m_table.index(m_name, m_row, looked_at_us(*header, moment));
    } else if (!pause_note().empty()) {
        m_table.index(m_name, m_row, moment.now_us + std::max<std::int64_t>(0, note_left_us(moment)) + 1);
    } else if (!registration()) {
        m_table.remove(m_name, m_row);
        m_row = {};
    }
}

bool LocalRecords::has_live_holder() const {
    const auto leases = this->leases(k_most_leases_looked_at);
    return std::any_of(leases.begin(), leases.end(), [](const auto& lease) {
        return lease.second.held && local::life_of(lease.second.processes) == HolderLife::alive;
    });
}

void LocalRecords::expire(const Moment& moment) {
    if (const auto header = this->header()) {
        const std::int64_t key_now = std::max(moment.now_us + header->offset_us, header->seen_us);
        // Left as it is: whoever asks next does what there is to do about its leases.
        if (key_now <= header->matters_until_us() || (header->leases > 0 && has_live_holder())) {
            m_table.index(m_name, m_row, looked_at_us(*header, moment));
            return;
        }
        clear();
    }
    const std::int64_t note_left = note_left_us(moment);
    if (note_left > 0) {
        m_table.index(m_name, m_row, moment.now_us + note_left + 1);
        return;
    }
    put_pause_note({});
    if (registration()) {
        m_table.index(m_name, m_row, 0);
    } else {
        m_table.remove(m_name, m_row);
        m_row = {};
    }
}

void purge(Transaction& txn, KeyTable& table, const Moment& moment) {
    for (int i = 0; i < k_keys_at_once; ++i) {
        const auto due = table.first_due(moment.now_us);
        if (!due) break;
        const auto row = table.find(due->name);
        if (row && row->id == due->row.id && row->indexed_us == due->row.indexed_us) {
            LocalRecords(txn, table, due->name).expire(moment);
        } else {
            table.drop_from_order(due->row);
        }
    }
    table.drop_leftovers(k_leftovers_at_once);
}

}  // namespace jobthrottle::local
