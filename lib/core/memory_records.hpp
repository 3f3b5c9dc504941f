// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>

#include "core/key_records.hpp"

namespace jobthrottle {

// Records in memory: the store of tests, and what `inspect` reads a Redis key into.
class MemoryRecords final : public KeyRecords {
public:
    std::optional<Header> header() const override { return m_header; }
    void put_header(const Header& header) override { m_header = header; }
    void clear() override;

    std::int64_t log_entry(std::int64_t position) const override;
    void put_log_entry(std::int64_t position, std::int64_t short_us) override;
    void replace_log(const std::vector<std::int64_t>& short_times) override { m_log = short_times; }

    std::optional<RecentStart> find_recent(StartId) const override;
    void put_recent(std::int64_t position, const RecentStart&) override;

    std::optional<Ticket> ticket(TicketId) const override;
    void put_ticket(TicketId, const Ticket&) override;
    void remove_ticket(TicketId) override;
    std::int64_t in_line_before(std::int64_t number, std::int64_t at_most) const override;
    std::int64_t number_in_line(std::int64_t place) const override;
    std::optional<std::int64_t> lowest_away_number() const override;
    std::optional<std::pair<TicketId, Ticket>> next_due() const override;

    std::optional<Registration> registration() const override { return m_registration; }
    void put_registration(const std::optional<Registration>& r) override { m_registration = r; }
    std::string pause_note() const override { return m_note; }
    void put_pause_note(const std::string& note) override { m_note = note; }

    const std::map<TicketId, Ticket>& tickets() const { return m_tickets; }
    const std::vector<std::int64_t>& log() const { return m_log; }
    const std::vector<RecentStart>& recent() const { return m_recent; }

private:
    std::optional<Header> m_header;
    std::vector<std::int64_t> m_log;
    std::vector<RecentStart> m_recent;
    std::map<TicketId, Ticket> m_tickets;
    std::set<std::int64_t> m_in_line, m_away;  // numbers
    std::set<std::pair<std::int64_t, TicketId>> m_deadlines;
    std::optional<Registration> m_registration;
    std::string m_note;
};

}  // namespace jobthrottle
