// SPDX-License-Identifier: MIT
// Attempts under way on a key: leases, by deadline and by the start of those that are open.
#include "store/local/processes.hpp"
#include "store/local/records.hpp"

namespace jobthrottle::local {

namespace {

constexpr std::size_t k_lease_bytes = 4 + 4 * 8;
static_assert(k_processes_bytes <= 127);  // their length is one byte

std::string encode(const Lease& lease) {
    const std::string_view processes = std::string_view(lease.processes).substr(0, k_processes_bytes);
    std::string bytes;
    bytes.reserve(k_lease_bytes + processes.size() + lease.who.size());
    for (const bool flag : {lease.held, lease.place, lease.open})
        bytes.push_back(flag ? 1 : 0);
    bytes.push_back(static_cast<char>(processes.size()));
    for (const auto field : {lease.cost, lease.at_us, lease.until_us, lease.length_us})
        put_field(bytes, field);
    bytes += processes;
    return bytes + lease.who;
}

std::optional<Lease> decode_lease(std::string_view bytes) {
    if (bytes.size() < k_lease_bytes || bytes[3] < 0) return std::nullopt;
    const auto processes = static_cast<std::size_t>(static_cast<unsigned char>(bytes[3]));
    if (bytes.size() < k_lease_bytes + processes) return std::nullopt;
    Lease lease;
    lease.held = bytes[0] != 0;
    lease.place = bytes[1] != 0;
    lease.open = bytes[2] != 0;
    lease.cost = field_at(bytes, 4);
    lease.at_us = field_at(bytes, 12);
    lease.until_us = field_at(bytes, 20);
    lease.length_us = field_at(bytes, 28);
    lease.processes = bytes.substr(k_lease_bytes, processes);
    lease.who = bytes.substr(k_lease_bytes + processes);
    return lease;
}

bool is_open(const Lease& lease) {
    return lease.held && lease.open;
}

}  // namespace

std::optional<Lease> LocalRecords::lease(LeaseId id) const {
    const auto payload = known() ? m_txn.get(key(k_lease).id(id)) : std::nullopt;
    if (!payload) return std::nullopt;
    auto lease = decode_lease(*payload);
    if (!lease) m_txn.fail_damaged();
    return lease;
}

void LocalRecords::add_orders(LeaseId id, const Lease& lease) {
    m_txn.put(key(k_lease_deadline).number(lease.deadline_us()).id(id), {});
    if (is_open(lease)) m_txn.put(key(k_open).number(lease.at_us).id(id), {});
}

void LocalRecords::remove_orders(LeaseId id, const Lease& lease) {
    m_txn.remove(key(k_lease_deadline).number(lease.deadline_us()).id(id));
    if (is_open(lease)) m_txn.remove(key(k_open).number(lease.at_us).id(id));
}

void LocalRecords::put_lease(LeaseId id, const Lease& lease) {
    be_known();
    const auto before = this->lease(id);
    const bool same_orders = before && before->deadline_us() == lease.deadline_us() &&
                             is_open(*before) == is_open(lease) && before->at_us == lease.at_us;
    if (!same_orders) {
        if (before) remove_orders(id, *before);
        add_orders(id, lease);
    }
    m_txn.put(key(k_lease).id(id), encode(lease));
}

void LocalRecords::remove_lease(LeaseId id) {
    const auto before = lease(id);
    if (!before) return;
    remove_orders(id, *before);
    m_txn.remove(key(k_lease).id(id));
}

std::optional<std::pair<LeaseId, Lease>> LocalRecords::next_lease_due() const {
    auto first = leases(1);
    if (first.empty()) return std::nullopt;
    return std::move(first.front());
}

std::int64_t LocalRecords::open_since(std::int64_t at_us, std::int64_t at_most) const {
    std::int64_t count = 0;
    walk(k_open, at_most, [&](const Transaction::Entry& entry) {
        if (RecordKey::number_at(entry.key, k_number_at) > at_us) return false;
        ++count;
        return true;
    });
    return count;
}

std::vector<std::pair<LeaseId, Lease>> LocalRecords::leases(std::int64_t at_most) const {
    std::vector<std::pair<LeaseId, Lease>> found;
    walk(k_lease_deadline, at_most, [&](const Transaction::Entry& entry) {
        const LeaseId id = RecordKey::id_at(entry.key, k_id_at);
        auto lease = this->lease(id);
        if (!lease) {
            m_txn.fail_damaged();
            return false;
        }
        found.emplace_back(id, *std::move(lease));
        return true;
    });
    return found;
}

HolderLife LocalRecords::life_of(const Lease& lease) const {
    return local::life_of(lease.processes);
}

void LocalRecords::copy_leases(MemoryRecords& copy) const {
    walk(k_lease, k_all, [&](const Transaction::Entry& entry) {
        if (const auto lease = decode_lease(entry.payload))
            copy.put_lease(RecordKey::id_at(entry.key, k_number_at), *lease);
        return true;
    });
}

}  // namespace jobthrottle::local
