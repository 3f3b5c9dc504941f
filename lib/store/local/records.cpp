// SPDX-License-Identifier: MIT
#include "store/local/records.hpp"

#include <algorithm>

namespace jobthrottle::local {

namespace {

// Kinds of records of a key. What clear() drops is in small letters, which sort after the capitals.
constexpr char k_note = 'P', k_registration = 'R';
constexpr char k_first_cleared = 'a';
constexpr char k_deadline = 'd', k_header = 'h', k_log = 'l', k_in_line = 'o', k_recent = 'r', k_ticket = 't',
               k_away = 'w';

constexpr std::int64_t k_log_chunk = 64;     // entries
constexpr std::int64_t k_recent_chunk = 16;  // starts
constexpr std::size_t k_recent_bytes = 8 + k_short_time_bytes;
constexpr std::size_t k_ticket_bytes = 2 + 4 * 8;
constexpr std::size_t k_number_at = 10;  // in a key: 'K', id, kind, then a number
// A key with more records than this is not dropped in one go.
constexpr int k_most_cleared = 128;

std::string encode(const Ticket& ticket) {
    std::string bytes;
    bytes.reserve(k_ticket_bytes + ticket.who.size());
    bytes.push_back(static_cast<char>(ticket.place));
    bytes.push_back(ticket.caller ? 1 : 0);
    for (const auto field : {ticket.number, ticket.told_us, ticket.keep.count(), ticket.since_us})
        put_field(bytes, field);
    return bytes + ticket.who;
}

std::optional<Ticket> decode_ticket(std::string_view bytes) {
    if (bytes.size() < k_ticket_bytes || bytes[0] < 0 || bytes[0] > 2) return std::nullopt;
    Ticket ticket;
    ticket.place = static_cast<Place>(bytes[0]);
    ticket.caller = bytes[1] != 0;
    ticket.number = field_at(bytes, 2);
    ticket.told_us = field_at(bytes, 10);
    ticket.keep = Duration{field_at(bytes, 18)};
    ticket.since_us = field_at(bytes, 26);
    ticket.who = bytes.substr(k_ticket_bytes);
    return ticket;
}

void set_field(std::string& bytes, std::size_t offset, std::int64_t value, std::size_t width) {
    std::string field;
    put_field(field, value, width);
    bytes.replace(offset, width, field);
}

std::size_t offset_in_chunk(std::int64_t position, std::int64_t per_chunk, std::size_t bytes) {
    return static_cast<std::size_t>(position % per_chunk) * bytes;
}

}  // namespace

LocalRecords::LocalRecords(Transaction& txn, KeyTable& table, std::string_view name)
    : m_txn(txn), m_table(table), m_name(name), m_row(table.find(name).value_or(KeyTable::Row{})) {}

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
    m_last_walked.reset();
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

std::int64_t LocalRecords::log_entry(std::int64_t position) const {
    const auto chunk = m_txn.get(key(k_log).number(position / k_log_chunk));
    const std::size_t offset = offset_in_chunk(position, k_log_chunk, k_short_time_bytes);
    if (!chunk || chunk->size() < offset + k_short_time_bytes) {
        m_txn.fail_damaged();
        return 0;
    }
    return field_at(*chunk, offset, k_short_time_bytes);
}

void LocalRecords::put_log_entry(std::int64_t position, std::int64_t short_us) {
    be_known();
    const std::int64_t chunk = position / k_log_chunk;
    const std::size_t offset = offset_in_chunk(position, k_log_chunk, k_short_time_bytes);
    std::string content = chunk_with(k_log, chunk, offset + k_short_time_bytes);
    set_field(content, offset, short_us, k_short_time_bytes);
    m_txn.put(key(k_log).number(chunk), content);
}

void LocalRecords::replace_log(const std::vector<std::int64_t>& short_times) {
    be_known();
    const auto count = static_cast<std::int64_t>(short_times.size());
    std::string content;
    for (std::int64_t i = 0; i < count; ++i) {
        put_field(content, short_times[static_cast<std::size_t>(i)], k_short_time_bytes);
        if (i % k_log_chunk != k_log_chunk - 1 && i != count - 1) continue;
        m_txn.put(key(k_log).number(i / k_log_chunk), content);
        content.clear();
    }
    const std::int64_t chunks = (count + k_log_chunk - 1) / k_log_chunk;
    for (std::int64_t chunk = chunks; m_txn.get(key(k_log).number(chunk)); ++chunk)
        m_txn.remove(key(k_log).number(chunk));
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

std::optional<Ticket> LocalRecords::ticket(TicketId id) const {
    const auto payload = known() ? m_txn.get(key(k_ticket).id(id)) : std::nullopt;
    if (!payload) return std::nullopt;
    auto ticket = decode_ticket(*payload);
    if (!ticket) m_txn.fail_damaged();
    return ticket;
}

void LocalRecords::add_orders(TicketId id, const Ticket& ticket) {
    m_last_walked.reset();
    if (ticket.place == Place::in_line) m_txn.put(key(k_in_line).number(ticket.number), {});
    if (ticket.place == Place::away) m_txn.put(key(k_away).number(ticket.number), {});
    m_txn.put(key(k_deadline).number(ticket.deadline_us()).id(id), {});
}

void LocalRecords::remove_orders(TicketId id, const Ticket& ticket) {
    m_last_walked.reset();
    if (ticket.place == Place::in_line) m_txn.remove(key(k_in_line).number(ticket.number));
    if (ticket.place == Place::away) m_txn.remove(key(k_away).number(ticket.number));
    m_txn.remove(key(k_deadline).number(ticket.deadline_us()).id(id));
}

void LocalRecords::put_ticket(TicketId id, const Ticket& ticket) {
    be_known();
    const auto before = this->ticket(id);
    if (before && before->place == ticket.place && before->number == ticket.number) {
        if (before->deadline_us() != ticket.deadline_us()) {
            m_txn.remove(key(k_deadline).number(before->deadline_us()).id(id));
            m_txn.put(key(k_deadline).number(ticket.deadline_us()).id(id), {});
        }
    } else {
        if (before) remove_orders(id, *before);
        add_orders(id, ticket);
    }
    m_txn.put(key(k_ticket).id(id), encode(ticket));
}

void LocalRecords::remove_ticket(TicketId id) {
    const auto before = ticket(id);
    if (!before) return;
    remove_orders(id, *before);
    m_txn.remove(key(k_ticket).id(id));
}

std::int64_t LocalRecords::in_line_before(std::int64_t number, std::int64_t at_most) const {
    const RecordKey prefix = key(k_in_line);
    std::int64_t count = 0;
    for (auto entry = m_txn.first_from(prefix); count < at_most && entry; entry = m_txn.next(), ++count) {
        if (entry->key.substr(0, k_number_at) != prefix.view()) break;
        const std::int64_t found = RecordKey::number_at(entry->key, k_number_at);
        if (found >= number) break;
        m_last_walked = {count, found};
    }
    return count;
}

std::int64_t LocalRecords::number_in_line(std::int64_t place) const {
    if (m_last_walked && m_last_walked->first == place) return m_last_walked->second;
    const RecordKey prefix = key(k_in_line);
    auto entry = m_txn.first_from(prefix);
    for (; place > 0 && entry; --place)
        entry = m_txn.next();
    if (entry && entry->key.substr(0, k_number_at) == prefix.view())
        return RecordKey::number_at(entry->key, k_number_at);
    m_txn.fail_damaged();
    return 0;
}

std::optional<std::int64_t> LocalRecords::lowest_away_number() const {
    const RecordKey prefix = key(k_away);
    const auto entry = m_txn.first_from(prefix);
    if (!entry || entry->key.substr(0, k_number_at) != prefix.view()) return std::nullopt;
    return RecordKey::number_at(entry->key, k_number_at);
}

std::optional<std::pair<TicketId, Ticket>> LocalRecords::next_due() const {
    const RecordKey prefix = key(k_deadline);
    const auto entry = m_txn.first_from(prefix);
    if (!entry || entry->key.substr(0, k_number_at) != prefix.view()) return std::nullopt;
    const TicketId id = RecordKey::id_at(entry->key, k_number_at + 8);
    const auto ticket = this->ticket(id);
    if (!ticket) {
        m_txn.fail_damaged();
        return std::nullopt;
    }
    return std::pair{id, *ticket};
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
    copy.put_registration(registration());
    copy.put_pause_note(pause_note());
    const auto header = this->header();
    if (!header) return copy;
    copy.put_header(*header);
    for (std::int64_t i = 0; i < std::min(header->log_total, header->log_capacity) && !m_txn.failure(); ++i)
        copy.put_log_entry(i, log_entry(i));
    const RecordKey prefix = key(k_ticket);
    for (auto entry = m_txn.first_from(prefix); entry && entry->key.substr(0, k_number_at) == prefix.view();
         entry = m_txn.next()) {
        const auto ticket = decode_ticket(entry->payload);
        if (ticket) copy.put_ticket(RecordKey::id_at(entry->key, k_number_at), *ticket);
    }
    return copy;
}

}  // namespace jobthrottle::local
