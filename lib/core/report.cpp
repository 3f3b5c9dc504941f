// SPDX-License-Identifier: MIT
#include "core/report.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "core/clocked_key.hpp"
#include "core/judgement.hpp"
#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

void put_netstring(std::string& out, std::string_view text) {
    out += std::to_string(text.size()) + ":";
    out += text;
    out += ",";
}

std::optional<std::string> take_netstring(std::string_view& bytes) {
    const auto colon = bytes.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto size = parse_whole_number(bytes.substr(0, colon));
    bytes.remove_prefix(colon + 1);
    if (!size || *size < 0 || static_cast<std::size_t>(*size) >= bytes.size()) return std::nullopt;
    const auto length = static_cast<std::size_t>(*size);
    if (bytes[length] != ',') return std::nullopt;
    std::string text(bytes.substr(0, length));
    bytes.remove_prefix(length + 1);
    return text;
}

// Opening a key moves only some of those that came late: a report tells of no more waiters than there are.
void sweep_all(MemoryRecords& records, std::int64_t store_now_us) {
    for (bool more = true; more;) {
        const ClockedKey key(records, store_now_us);
        const Header& header = key.header();
        more = std::min(header.next_deadline_us, header.next_lease_us) < key.now_us();
        if (key.existed()) records.put_header(header);
    }
}

std::vector<Waiter> waiters_of(const MemoryRecords& records, ClockedKey& key, const Terms& terms) {
    std::vector<Waiter> waiting;
    for (const auto& [id, ticket] : records.tickets()) {
        waiting.push_back({id, ticket.place, ticket.number, ticket.caller,
                           Duration{key.now_us() - ticket.since_us}, Duration::zero(),
                           Duration{ticket.told_us - key.now_us()}, ticket.cost, ticket.offered, ticket.who});
    }
    std::sort(waiting.begin(), waiting.end(), [](const Waiter& a, const Waiter& b) {
        const bool a_line = a.place == Place::in_line, b_line = b.place == Place::in_line;
        return a_line != b_line ? a_line : a.number < b.number;
    });
    Standing standing;
    standing.others = key.header().in_line - 1;
    for (auto& waiter : waiting) {
        if (waiter.place != Place::in_line) break;
        standing.number = waiter.number;
        standing.cost = waiter.cost;
        waiter.starts_in = Duration{judge(key, standing, terms, false).possible_us - key.now_us()};
        ++standing.rank;
        standing.cost_ahead += waiter.cost;
        if (static_cast<std::int64_t>(standing.costs_ahead.size()) < k_room_kept_for)
            standing.costs_ahead.push_back(waiter.cost);
    }
    return waiting;
}

std::vector<Holder> holders_of(const MemoryRecords& records, std::int64_t now_us) {
    std::vector<Holder> holding;
    for (const auto& [id, lease] : records.leases())
        holding.push_back(holder_of(id, lease, now_us));
    std::sort(holding.begin(), holding.end(),
              [](const Holder& a, const Holder& b) { return a.age != b.age ? a.age > b.age : a.id < b.id; });
    return holding;
}

std::vector<LimitReport> limits_of(MemoryRecords& records, ClockedKey& key, const Terms& terms) {
    std::vector<LimitReport> limits;
    for (const Rate& rate : terms.rates()) {
        LimitReport limit{rate, 0, 0};
        limit.starts =
            StartLogs(records, key.header()).count_after(rate, key.now_us() - rate.period().count());
        limit.remaining = std::max<std::int64_t>(0, rate.allow() - limit.starts);
        limits.push_back(limit);
    }
    return limits;
}

}  // namespace

std::string encode(const PauseNote& note) {
    std::string out;
    for (const auto* field : {&note.summary, &note.line, &note.stream, &note.job, &note.who, &note.reason}) {
        put_netstring(out, *field);
    }
    put_netstring(out, std::to_string(note.at_s));
    return out;
}

std::optional<PauseNote> decode_pause_note(std::string_view bytes) {
    PauseNote note;
    for (auto* field : {&note.summary, &note.line, &note.stream, &note.job, &note.who, &note.reason}) {
        auto text = take_netstring(bytes);
        if (!text) return std::nullopt;
        *field = std::move(*text);
    }
    const auto at = take_netstring(bytes);
    if (!at) return std::nullopt;
    note.at_s = parse_whole_number(*at).value_or(0);
    return note;
}

Holder holder_of(LeaseId id, const Lease& lease, std::int64_t now_us) {
    Holder holder;
    holder.id = id;
    holder.held = lease.held;
    holder.place = lease.place;
    holder.age = Duration{std::max<std::int64_t>(0, now_us - lease.at_us)};
    holder.left = Duration{lease.until_us - now_us};
    holder.renewed = Duration{std::max<std::int64_t>(0, now_us - (lease.until_us - lease.length_us))};
    holder.cost = lease.cost;
    holder.who = lease.who;
    return holder;
}

KeyReport report_on(MemoryRecords records, std::int64_t store_now_us) {
    KeyReport report;
    report.registration = records.registration();
    report.note = decode_pause_note(records.pause_note());
    sweep_all(records, store_now_us);
    ClockedKey key(records, store_now_us);
    const Header& header = key.header();
    report.known = key.existed() || report.registration || report.note;
    report.terms = report.registration ? report.registration->terms : header.last_terms();
    const Standing newcomer = standing_of(key, std::nullopt, 1);
    report.available_in = Duration{judge(key, newcomer, report.terms, false).possible_us - key.now_us()};
    report.limits = limits_of(records, key, report.terms);
    report.places = header.places;
    report.paused_for = Duration{std::max<std::int64_t>(0, header.paused_until_us - key.now_us())};
    report.paused_for_ever = header.paused_until_us == k_forever_us;
    report.paused_by_hand = report.paused_for > Duration::zero() && header.paused_by_hand != 0;
    if (header.recent_total > 0) {
        report.last_start_age_us = std::max<std::int64_t>(0, key.now_us() - header.last_start_us);
    }
    report.started = header.recent_total;
    report.waiting = waiters_of(records, key, report.terms);
    report.holding = holders_of(records, key.now_us());
    return report;
}

}  // namespace jobthrottle
