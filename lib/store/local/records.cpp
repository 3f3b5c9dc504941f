// SPDX-License-Identifier: MIT
#include "store/local/records.hpp"

#include <algorithm>

#include "store/local/processes.hpp"

namespace jobthrottle::local {

namespace {

constexpr std::int64_t k_log_chunk = 64;     // entries
constexpr std::int64_t k_log_chunks = 64;    // room for the chunks of one log
constexpr std::int64_t k_recent_chunk = 16;  // starts
constexpr std::size_t k_recent_bytes = 8 + k_short_time_bytes;
// A key with more records than this is not dropped in one go.
constexpr int k_most_cleared = 128;

void set_field(std::string& bytes, std::size_t offset, std::int64_t value, std::size_t width) {
    std::string field;
    put_field(field, value, width);
    bytes.replace(offset, width, field);
}

std::size_t offset_in_chunk(std::int64_t position, std::int64_t per_chunk, std::size_t bytes) {
    return static_cast<std::size_t>(position % per_chunk) * bytes;
}

std::int64_t log_chunk(std::size_t log, std::int64_t position) {
    return static_cast<std::int64_t>(log) * k_log_chunks + position / k_log_chunk;
}

}  // namespace

LocalRecords::LocalRecords(Transaction& txn, KeyTable& table, std::string_view name, Waker* waker)
    : m_txn(txn),
      m_table(table),
      m_name(name),
      m_waker(waker),
      m_row(table.find(name).value_or(KeyTable::Row{})) {}

void LocalRecords::be_known() {
    if (!known()) m_row = m_table.make(m_name);
}

std::optional<Header> LocalRecords::header() const {
    const auto payload = known() ? m_txn.get(key(k_header)) : std::nullopt;
    if (!payload) return std::nullopt;
    HeaderProblem problem = HeaderProblem::none;
    auto header = decode_header(*payload, &problem);
    if (!header) m_txn.fail({problem == HeaderProblem::newer ? Fault::newer : Fault::damaged, 0});
    return header;
}

void LocalRecords::put_header(const Header& header) {
    be_known();
    m_txn.put(key(k_header), jobthrottle::encode(header));
}

void LocalRecords::clear() {
    if (!known()) return;
    const RecordKey first = key(k_first_cleared);
    for (int cleared = 0; cleared < k_most_cleared; ++cleared) {
        const auto entry = m_txn.first_from(first);
        if (!entry || entry->key.substr(0, 9) != first.view().substr(0, 9)) return;
        m_txn.remove(std::string(entry->key));
    }
    const auto registered = registration();
    const std::string note = pause_note();
    put_registration(std::nullopt);
    put_pause_note({});
    m_table.renumber(m_name, m_row);
    put_registration(registered);
    put_pause_note(note);
}

// The chunk as it stands, or longer where it must hold more bytes.
std::string LocalRecords::chunk_with(char kind, std::int64_t chunk, std::size_t bytes) const {
    std::string content(m_txn.get(key(kind).number(chunk)).value_or(std::string_view{}));
    if (content.size() < bytes) content.resize(bytes, '\0');
    return content;
}

std::int64_t LocalRecords::log_entry(std::size_t log, std::int64_t position) const {
    const auto chunk = m_txn.get(key(k_log).number(log_chunk(log, position)));
    const std::size_t offset = offset_in_chunk(position, k_log_chunk, k_short_time_bytes);
    if (!chunk || chunk->size() < offset + k_short_time_bytes) {
        m_txn.fail_damaged();
        return 0;
    }
    return field_at(*chunk, offset, k_short_time_bytes);
}

void LocalRecords::put_log_entries(std::size_t log, std::int64_t position, std::int64_t count,
                                   std::int64_t short_us) {
    be_known();
    for (const std::int64_t end = position + count; position < end;) {
        const std::int64_t here = std::min(end - position, k_log_chunk - position % k_log_chunk);
        const std::int64_t chunk = log_chunk(log, position);
        const std::size_t offset = offset_in_chunk(position, k_log_chunk, k_short_time_bytes);
        const std::size_t last = offset + static_cast<std::size_t>(here - 1) * k_short_time_bytes;
        std::string content = chunk_with(k_log, chunk, last + k_short_time_bytes);
        for (std::size_t at = offset; at <= last; at += k_short_time_bytes)
            set_field(content, at, short_us, k_short_time_bytes);
        m_txn.put(key(k_log).number(chunk), content);
        position += here;
    }
}

void LocalRecords::replace_log(std::size_t log, const std::vector<std::int64_t>& short_times) {
    be_known();
    const auto count = static_cast<std::int64_t>(short_times.size());
    std::string content;
    for (std::int64_t i = 0; i < count; ++i) {
        put_field(content, short_times[static_cast<std::size_t>(i)], k_short_time_bytes);
        if (i % k_log_chunk != k_log_chunk - 1 && i != count - 1) continue;
        m_txn.put(key(k_log).number(log_chunk(log, i)), content);
        content.clear();
    }
    const std::int64_t end = log_chunk(log + 1, 0);
    for (std::int64_t chunk = log_chunk(log, count + k_log_chunk - 1);
         chunk < end && m_txn.get(key(k_log).number(chunk)); ++chunk)
        m_txn.remove(key(k_log).number(chunk));
}

std::vector<std::int64_t> LocalRecords::log_entries(std::size_t log, std::int64_t count) const {
    std::vector<std::int64_t> entries;
    for (std::int64_t i = 0; i < count && !m_txn.failure(); ++i)
        entries.push_back(log_entry(log, i));
    return entries;
}

std::optional<RecentStart> LocalRecords::find_recent(StartId id) const {
    if (!known()) return std::nullopt;
    for (std::int64_t chunk = 0; chunk < k_recent_starts / k_recent_chunk; ++chunk) {
        const auto content = m_txn.get(key(k_recent).number(chunk));
        if (!content) return std::nullopt;
        for (std::size_t at = 0; at + k_recent_bytes <= content->size(); at += k_recent_bytes) {
            if (static_cast<StartId>(field_at(*content, at)) == id)
                return RecentStart{id, field_at(*content, at + 8, k_short_time_bytes)};
        }
    }
    return std::nullopt;
}

void LocalRecords::put_recent(std::int64_t position, const RecentStart& start) {
    be_known();
    const std::int64_t chunk = position / k_recent_chunk;
    const std::size_t offset = offset_in_chunk(position, k_recent_chunk, k_recent_bytes);
    std::string content = chunk_with(k_recent, chunk, offset + k_recent_bytes);
    set_field(content, offset, static_cast<std::int64_t>(start.id), 8);
    set_field(content, offset + 8, start.short_us, k_short_time_bytes);
    m_txn.put(key(k_recent).number(chunk), content);
}

void LocalRecords::drop_recent(StartId id) {
    if (!known()) return;
    for (std::int64_t chunk = 0; chunk < k_recent_starts / k_recent_chunk; ++chunk) {
        const auto content = m_txn.get(key(k_recent).number(chunk));
        if (!content) return;
        std::string without(*content);
        for (std::size_t at = 0; at + k_recent_bytes <= without.size(); at += k_recent_bytes) {
            if (static_cast<StartId>(field_at(without, at)) == id) set_field(without, at, 0, 8);
        }
        if (without != *content) m_txn.put(key(k_recent).number(chunk), without);
    }
}

std::optional<Registration> LocalRecords::registration() const {
    const auto payload = known() ? m_txn.get(key(k_registration)) : std::nullopt;
    if (!payload) return std::nullopt;
    auto registration = decode_registration(*payload);
    if (!registration) m_txn.fail_damaged();
    return registration;
}

void LocalRecords::put_registration(const std::optional<Registration>& registration) {
    if (registration) {
        be_known();
        m_txn.put(key(k_registration), jobthrottle::encode(*registration));
    } else if (known()) {
        m_txn.remove(key(k_registration));
    }
}

std::string LocalRecords::pause_note() const {
    return std::string((known() ? m_txn.get(key(k_note)) : std::nullopt).value_or(std::string_view{}));
}

void LocalRecords::put_pause_note(const std::string& note) {
    if (!note.empty()) {
        be_known();
        m_txn.put(key(k_note), note);
    } else if (known()) {
        m_txn.remove(key(k_note));
    }
}

MemoryRecords LocalRecords::copy() const {
    MemoryRecords copy;
    copy.know_life([](const Lease& lease) { return local::life_of(lease.processes); });
    copy.put_registration(registration());
    copy.put_pause_note(pause_note());
    const auto header = this->header();
    if (!header) return copy;
    copy.put_header(*header);
    for (std::size_t log = 0; log < header->rows.size(); ++log) {
        const auto& row = header->rows[log];
        copy.replace_log(log, log_entries(log, std::min(row.log_total, row.log_capacity)));
    }
    copy_tickets(copy);
    copy_leases(copy);
    return copy;
}

}  // namespace jobthrottle::local
