// SPDX-License-Identifier: MIT
#include "lua_records.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "lua_text.hpp"
#include "store/redis/key_names.hpp"
#include "store/redis/packed_records.hpp"

namespace jobthrottle::test {

namespace {

using Map = std::map<std::string, std::string>;

std::string little_endian(std::int64_t value, int bytes) {
    auto bits = static_cast<std::uint64_t>(value);
    std::string out;
    for (int i = 0; i < bytes; ++i, bits >>= 8)
        out += static_cast<char>(bits & 0xFF);
    return out;
}

std::string text_of(const Map& map) {
    std::string out;
    for (const auto& [key, value] : map)
        out += "\n  " + hex(key) + " " + hex(value);
    return out;
}

// Header fields, one a line. The expiry is Redis's own affair.
std::string text_of(const Header& header) {
    std::string out;
    for (const std::int64_t field : fields_of(header))
        out += std::to_string(field) + "\n";
    return out;
}

Map map_of(const Reply& reply) {
    Map map;
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
        map[reply.items[i].text] = reply.items[i + 1].text;
    return map;
}

std::string packed(const Ticket& ticket) {
    return little_endian(static_cast<int>(ticket.place), 1) + little_endian(ticket.caller ? 1 : 0, 1) +
           little_endian(ticket.wake, 1) + little_endian(ticket.offered ? 1 : 0, 1) +
           little_endian(ticket.number, 8) + little_endian(ticket.told_us, 8) +
           little_endian(ticket.keep.count(), 8) + little_endian(ticket.cost, 8) +
           little_endian(ticket.since_us, 8) + ticket.who;
}

std::string packed(const Lease& lease) {
    return little_endian(lease.held ? 1 : 0, 1) + little_endian(lease.place ? 1 : 0, 1) +
           little_endian(lease.open ? 1 : 0, 1) + little_endian(lease.cost, 8) +
           little_endian(lease.at_us, 8) + little_endian(lease.until_us, 8) +
           little_endian(lease.length_us, 8) + lease.who;
}

// What there is in Redis of one key, in the order of record_names() but for the wake lists; then the
// expiries.
constexpr std::size_t k_state = 0, k_recent = 1, k_tickets = 2, k_line = 3, k_due = 4, k_registered = 5,
                      k_note = 6, k_log1 = 7, k_leases = 10, k_looked_at = 11;
// Then the wake lists, then the expiries.
constexpr std::size_t k_wake_lists = k_looked_at, k_expiries = k_looked_at + 4;

std::string log_bytes(const MemoryRecords& records, std::size_t log) {
    const auto row = records.header()->rows.at(log);
    std::string out;
    const auto kept = std::min(row.log_total, row.log_capacity);
    for (std::int64_t i = 0; i < kept; ++i)
        out += little_endian(records.log_entry(log, i), 6);
    return out;
}

std::string recent_bytes(const MemoryRecords& records) {
    std::string out;
    for (const auto& start : records.recent())
        out += pack_id(start.id) + little_endian(start.short_us, 6);
    return out;
}

std::string state_difference(const MemoryRecords& records, const std::vector<Reply>& replies) {
    const auto expected = records.header();
    const std::string& state = replies[k_state].text;
    if (!expected) return differ("the state", "", hex(state));
    auto found = decode_header(state);
    if (!found) return differ("the state", "there", hex(state));
    found->idle_until_us = 0;
    if (auto d = differ("the header", text_of(*expected), text_of(*found)); !d.empty()) return d;
    if (encode(*found) != encode(*expected)) return "the bytes of the header differ\n";
    std::string difference;
    for (std::size_t log = 0; log < Header::k_rows; ++log) {
        const std::string wanted = log_bytes(records, log);
        const std::string& bytes = log == 0 ? state : replies[k_log1 + log - 1].text;
        const std::size_t from = log == 0 ? Header::k_bytes : 0;
        const std::string there = from < bytes.size() ? bytes.substr(from, wanted.size()) : "";
        difference += differ("log " + std::to_string(log), hex(wanted), hex(there));
    }
    return difference;
}

std::string tickets_difference(const MemoryRecords& records, const std::vector<Reply>& replies) {
    Map tickets, line, due, leases;
    for (const auto& [id, ticket] : records.tickets()) {
        tickets[pack_id(id)] = packed(ticket);
        due[pack_id(id)] = std::to_string(ticket.deadline_us());
        if (ticket.place == Place::in_line) line[pack_id(id)] = std::to_string(ticket.number);
        if (ticket.place == Place::away) {
            line[pack_id(id)] = std::to_string(ticket.number + (std::int64_t{1} << 50));
        }
    }
    for (const auto& [id, lease] : records.leases()) {
        const std::string field = "L" + pack_id(id);
        tickets[field] = packed(lease);
        leases[field] = std::to_string(lease.deadline_us());
        if (lease.held && lease.open) line[field] = std::to_string(lease.at_us + (std::int64_t{1} << 51));
    }
    return differ("tickets", text_of(tickets), text_of(map_of(replies[k_tickets]))) +
           differ("line", text_of(line), text_of(map_of(replies[k_line]))) +
           differ("due", text_of(due), text_of(map_of(replies[k_due]))) +
           differ("leases", text_of(leases), text_of(map_of(replies[k_leases])));
}

// Memory says whom it woke; in Redis it stands in the lists, unless the wake-up got another holder since.
std::string wakes_difference(MemoryRecords& records, const std::vector<Reply>& replies, bool kept) {
    const auto woken = records.take_woken();
    std::set<std::string> expected, all, found;
    for (const TicketId id : woken) {
        const auto ticket = records.ticket(id);
        const std::string one = hex(pack_id(id));
        all.insert(one);
        if (ticket && ticket->offered) expected.insert(one + " on " + std::to_string(ticket->wake));
    }
    for (std::size_t wake = 0; wake < 4; ++wake) {
        for (const Reply& item : replies[k_wake_lists + wake].items) {
            const std::string one = hex(item.text);
            if (all.count(one) == 0) return "woken in Redis alone: " + one + "\n";
            found.insert(one + " on " + std::to_string(wake + 1));
        }
    }
    std::string difference;
    for (const auto& one : expected) {
        if (kept && found.count(one) == 0) difference += "woken in memory alone: " + one + "\n";
    }
    return difference;
}

// -2: not there; -1: no expiry, which is right for what is registered and in a pause for ever.
std::string expiry_fault(const MemoryRecords& records, const std::vector<Reply>& replies) {
    const auto header = records.header();
    const bool forever = header && header->matters_until_us() >= k_forever_us;
    for (std::size_t i = 0; i < k_record_names; ++i) {
        const std::int64_t left_ms = replies[k_expiries + i].integer;
        if (i == k_registered || left_ms == -2 || left_ms > 0) continue;
        const bool may_stay = forever && i < k_wake_lists;
        if (!may_stay || left_ms != -1) return "record " + std::to_string(i) + " has no expiry\n";
    }
    return {};
}

}  // namespace

std::vector<Command> looks_at(const std::vector<std::string>& names) {
    std::vector<Command> commands;
    for (std::size_t i = 0; i < k_looked_at; ++i) {
        if (i == k_tickets) {
            commands.push_back({"HGETALL", names[i]});
        } else if (i == k_line || i == k_due || i == k_leases) {
            commands.push_back({"ZRANGE", names[i], "0", "-1", "WITHSCORES"});
        } else {
            commands.push_back({"GET", names[i]});
        }
    }
    for (std::size_t wake = 0; wake < 4; ++wake)
        commands.push_back({"LRANGE", names[k_looked_at + wake], "0", "-1"});
    for (std::size_t i = 0; i < names.size(); ++i)
        commands.push_back({"PTTL", names[i]});
    for (std::size_t wake = 0; wake < 4; ++wake)
        commands.push_back({"UNLINK", names[k_looked_at + wake]});
    return commands;
}

std::string records_difference(MemoryRecords& records, const std::vector<Reply>& replies, bool wakes_kept) {
    const auto registered = records.registration();
    return state_difference(records, replies) +
           differ("recent", hex(recent_bytes(records)), hex(replies[k_recent].text)) +
           tickets_difference(records, replies) +
           differ("registered", registered ? encode(*registered) : "", replies[k_registered].text) +
           differ("note", records.pause_note(), replies[k_note].text) +
           wakes_difference(records, replies, wakes_kept) + expiry_fault(records, replies);
}

}  // namespace jobthrottle::test
