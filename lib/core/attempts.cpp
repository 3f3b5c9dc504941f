// SPDX-License-Identifier: MIT
#include "core/attempts.hpp"

#include <algorithm>

#include "core/clocked_key.hpp"
#include "core/start_log.hpp"

namespace jobthrottle {

namespace {

// The slot after a charge. What does not fit the window of the start holds others up until that window is
// over and no longer: a key is forgotten then, and who comes after that starts at once.
Slot charged(const LimitRow& row, std::int64_t at_us, std::int64_t by, const Rate& rate) {
    const Slot slot{row.slot_us, row.slot_rest};
    const Slot last = slot_moved_back({at_us + rate.period().count(), 0}, row.slot_cost, rate);
    return std::min(slot_after(slot, by, rate), std::max(last, slot));
}

// The start at this time counts as so many more, or fewer, in the windows and in the spacing of slots.
void change_cost(ClockedKey& key, std::int64_t at_us, std::int64_t by) {
    Header& header = key.header();
    StartLogs(key.records(), header).change(at_us, by);
    for (LimitRow& row : header.rows) {
        const auto rate = row.last_rate();
        if (row.slot_allow == 0 || !rate || rate->allow() != row.slot_allow) continue;
        const Slot moved = by > 0 ? charged(row, at_us, by, *rate)
                                  : slot_moved_back({row.slot_us, row.slot_rest}, -by, *rate);
        row.slot_us = moved.time_us;
        row.slot_rest = moved.rest;
    }
    if (by < 0) key.note_room();
}

Duration lost_for(const ClockedKey& key, const Lease& lease) {
    return Duration{key.now_us() - lease.until_us};
}

bool has_room(const ClockedKey& key, const Lease& lease) {
    const Header& header = key.header();
    return !lease.place || header.last_concurrency == 0 || header.places < header.last_concurrency;
}

void put_back(ClockedKey& key, const GiveBack& given) {
    Ticket ticket;
    ticket.place = Place::away;
    ticket.number = given.number;
    ticket.told_us = key.now_us();
    ticket.keep = k_caller_keep;
    ticket.caller = true;
    ticket.since_us = key.now_us() - given.waited.count();
    ticket.cost = given.cost;
    ticket.who = given.who.substr(0, k_who_bytes);
    key.put_ticket(given.place, ticket, std::nullopt);
}

// The state that the lease was taken in is gone: its holder takes a place as everybody, but out of line.
LeaseState take_anew(ClockedKey& key, const Renewal& renewal) {
    Header& header = key.header();
    if (renewal.concurrency == 0 || header.birth_us == renewal.birth_us) return LeaseState::unknown;
    const std::int64_t most = header.last_concurrency > 0 ? header.last_concurrency : renewal.concurrency;
    if (header.places >= most) return LeaseState::lost;
    Lease lease;
    lease.at_us = key.now_us();
    lease.length_us = renewal.lock_for.count();
    lease.until_us = lease.at_us + lease.length_us;
    lease.who = renewal.who.substr(0, k_who_bytes);
    lease.processes = renewal.processes.substr(0, k_processes_bytes);
    key.put_lease(renewal.id, lease, std::nullopt);
    header.last_concurrency = most;
    return LeaseState::retaken;
}

}  // namespace

LeaseAnswer renew(KeyRecords& records, std::int64_t store_now_us, const Renewal& renewal) {
    ClockedKey key(records, store_now_us);
    LeaseAnswer answer;
    const auto before = key.lease(renewal.id);
    if (before) {
        Lease lease = *before;
        answer.state = LeaseState::held;
        if (!before->held) {
            answer.lost_for = lost_for(key, *before);
            lease.held = has_room(key, *before);
            answer.state = lease.held ? LeaseState::retaken : LeaseState::lost;
        }
        if (lease.held) {
            if (renewal.lock_for > Duration::zero()) lease.length_us = renewal.lock_for.count();
            if (!renewal.processes.empty()) lease.processes = renewal.processes.substr(0, k_processes_bytes);
            lease.until_us = key.now_us() + lease.length_us;
            key.put_lease(renewal.id, lease, before);
        }
    } else {
        answer.state = take_anew(key, renewal);
    }
    key.save();
    return answer;
}

LeaseAnswer release(KeyRecords& records, std::int64_t store_now_us, const Release& release) {
    ClockedKey key(records, store_now_us);
    LeaseAnswer answer;
    if (const auto lease = key.lease(release.id)) {
        answer.state = lease->held ? LeaseState::held : LeaseState::lost;
        if (!lease->held) answer.lost_for = lost_for(key, *lease);
        key.remove_lease(release.id, *lease);
        if (release.give_back && lease->cost > 0) change_cost(key, lease->at_us, -lease->cost);
    }
    key.save();
    return answer;
}

std::vector<std::pair<LeaseId, Lease>> release_leases(KeyRecords& records, std::int64_t store_now_us,
                                                      bool only_dead) {
    ClockedKey key(records, store_now_us);
    std::vector<std::pair<LeaseId, Lease>> released;
    if (key.existed()) {
        for (auto& [id, lease] : records.leases(Terms::k_most_at_once)) {
            if (only_dead && lease.held && records.life_of(lease) != HolderLife::dead) continue;
            key.remove_lease(id, lease);
            if (lease.held) released.emplace_back(id, std::move(lease));
        }
    }
    key.save();
    return released;
}

SettleAnswer settle(KeyRecords& records, std::int64_t store_now_us, const Settlement& settlement) {
    ClockedKey key(records, store_now_us);
    SettleAnswer answer;
    if (const auto before = key.lease(settlement.id)) {
        answer.state = before->held ? LeaseState::held : LeaseState::lost;
        answer.cost_before = before->cost;
        const std::int64_t by = settlement.cost - before->cost;
        if (by != 0) {
            change_cost(key, before->at_us, by);
            Lease lease = *before;
            lease.cost = settlement.cost;
            key.put_lease(settlement.id, lease, before);
        }
    }
    key.save();
    return answer;
}

bool give_back(KeyRecords& records, std::int64_t store_now_us, const GiveBack& given) {
    ClockedKey key(records, store_now_us);
    const auto start = key.existed() ? records.find_recent(given.id) : std::nullopt;
    if (start) {
        change_cost(key, lengthen(start->short_us, key.header().last_start_us), -given.cost);
        records.drop_recent(given.id);
        if (const auto lease = key.lease(given.id)) key.remove_lease(given.id, *lease);
        // A number that the key has not given is of a state that was lost since.
        const bool is_known = given.number > 0 && given.number <= key.header().numbers;
        if (is_known && !key.ticket(given.place)) put_back(key, given);
    }
    key.save();
    return start.has_value();
}

}  // namespace jobthrottle
