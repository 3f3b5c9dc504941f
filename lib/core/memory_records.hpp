// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>

#include "core/key_records.hpp"

namespace jobthrottle {

// Records in memory: the store of tests, and what `inspect` reads a key into.
class MemoryRecords final : public KeyRecords {
public:
    std::optional<Header> header() const override { return m_header; }
    void put_header(const Header& header) override { m_header = header; }
    void clear() override;

    std::int64_t log_entry(std::size_t log, std::int64_t position) const override;
    void put_log_entries(std::size_t log, std::int64_t position, std::int64_t count,
                         std::int64_t short_us) override;
    void replace_log(std::size_t log, const std::vector<std::int64_t>& short_times) override {
        m_logs.at(log) = short_times;
    }

    std::optional<RecentStart> find_recent(StartId) const override;
    void put_recent(std::int64_t position, const RecentStart&) override;
    void drop_recent(StartId) override;

    std::optional<Ticket> ticket(TicketId) const override;
    void put_ticket(TicketId, const Ticket&) override;
    void remove_ticket(TicketId) override;
    std::int64_t in_line_before(std::int64_t number, std::int64_t at_most) const override;
    std::vector<LinePlace> line_head(std::int64_t count) const override;
    std::optional<LinePlace> lowest_away() const override;
    std::optional<std::pair<TicketId, Ticket>> next_due() const override;

    std::optional<Lease> lease(LeaseId) const override;
    void put_lease(LeaseId, const Lease&) override;
    void remove_lease(LeaseId) override;
    std::optional<std::pair<LeaseId, Lease>> next_lease_due() const override;
    std::int64_t open_since(std::int64_t at_us, std::int64_t at_most) const override;
    std::vector<std::pair<LeaseId, Lease>> leases(std::int64_t at_most) const override;
    HolderLife life_of(const Lease& lease) const override {
        return m_life ? m_life(lease) : HolderLife::unknown;
    }
    bool wake(TicketId id, std::int64_t wake) override;
    void silence(std::int64_t) override {}

    std::optional<Registration> registration() const override { return m_registration; }
    void put_registration(const std::optional<Registration>& r) override { m_registration = r; }
    std::string pause_note() const override { return m_note; }
    void put_pause_note(const std::string& note) override { m_note = note; }

    const std::map<TicketId, Ticket>& tickets() const { return m_tickets; }
    const std::map<LeaseId, Lease>& leases() const { return m_leases; }
    const std::vector<std::int64_t>& log(std::size_t log) const { return m_logs.at(log); }
    const std::vector<RecentStart>& recent() const { return m_recent; }

    // Who was woken, in order; whoever reads it takes it. For tests.
    std::vector<TicketId> take_woken() { return std::exchange(m_woken, {}); }
    // What is known of the holders of leases, and who is dead where it should be woken; empty: nothing,
    // nobody.
    void know_life(std::function<HolderLife(const Lease&)> life) { m_life = std::move(life); }
    void know_dead(std::function<bool(TicketId)> dead) { m_dead = std::move(dead); }

private:
    std::optional<Header> m_header;
    std::array<std::vector<std::int64_t>, Header::k_rows> m_logs;
    std::vector<RecentStart> m_recent;
    std::map<TicketId, Ticket> m_tickets;
    std::map<std::int64_t, TicketId> m_in_line, m_away;  // by number
    std::set<std::pair<std::int64_t, TicketId>> m_deadlines;
    std::map<LeaseId, Lease> m_leases;
    std::set<std::pair<std::int64_t, LeaseId>> m_lease_deadlines, m_open;
    std::optional<Registration> m_registration;
    std::string m_note;
    std::vector<TicketId> m_woken;
    std::function<HolderLife(const Lease&)> m_life;
    std::function<bool(TicketId)> m_dead;
};

}  // namespace jobthrottle
