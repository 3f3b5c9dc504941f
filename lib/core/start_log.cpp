// SPDX-License-Identifier: MIT
#include "core/start_log.hpp"

#include <algorithm>
#include <vector>

namespace jobthrottle {

namespace {

constexpr std::int64_t k_smallest_log = 8;

std::int64_t group_for(const Rate& rate) {
    return rate.allow() <= k_log_exact ? 1 : (rate.allow() + k_log_exact - 1) / k_log_exact;
}

// Entries doubled up to what the rate needs, so that a limit that grows step by step moves its log rarely.
std::int64_t capacity_for(const Rate& rate) {
    const std::int64_t needed = std::min(rate.allow(), k_log_entries);
    std::int64_t capacity = k_smallest_log;
    while (capacity < needed)
        capacity *= 2;
    return std::min(capacity, k_log_entries);
}

}  // namespace

std::int64_t StartLog::kept_groups() const {
    return std::min(m_header.log_total, m_header.log_capacity);
}

std::int64_t StartLog::entry_us(std::int64_t group) const {
    return lengthen(m_records.log_entry(group % m_header.log_capacity), m_header.last_start_us);
}

std::optional<std::int64_t> StartLog::start_back(std::int64_t count) const {
    if (m_header.log_total == 0) return std::nullopt;
    const std::int64_t starts = (m_header.log_total - 1) * m_header.log_group + m_header.log_fill;
    if (count > starts) return std::nullopt;
    const std::int64_t group = (starts - count) / m_header.log_group;
    if (group < m_header.log_total - kept_groups()) return std::nullopt;
    return entry_us(group);
}

void StartLog::add(std::int64_t at_us, const Rate& rate) {
    lay_out(rate);
    if (m_header.log_total == 0 || m_header.log_fill == m_header.log_group) {
        ++m_header.log_total;
        m_header.log_fill = 0;
    }
    ++m_header.log_fill;
    m_header.last_start_us = at_us;
    m_records.put_log_entry((m_header.log_total - 1) % m_header.log_capacity, shorten(at_us));
}

std::int64_t StartLog::count_after(std::int64_t from_us) const {
    std::int64_t first = m_header.log_total - kept_groups();
    std::int64_t end = m_header.log_total;
    while (first < end) {
        const std::int64_t middle = first + (end - first) / 2;
        if (entry_us(middle) > from_us) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    if (first == m_header.log_total) return 0;
    return (m_header.log_total - 1 - first) * m_header.log_group + m_header.log_fill;
}

// The same starts in the groups of another rate, the newest kept. Whole groups are walked from the newest
// back, so the work is bound by the entries of both layouts and not by the limit.
void StartLog::lay_out(const Rate& rate) {
    const std::int64_t group = group_for(rate);
    const std::int64_t capacity = std::max(m_header.log_capacity, capacity_for(rate));
    if (group == m_header.log_group && capacity == m_header.log_capacity) return;

    const std::int64_t kept = kept_groups();
    std::int64_t left = kept == 0 ? 0 : (kept - 1) * m_header.log_group + m_header.log_fill;
    std::int64_t old_group = m_header.log_total - 1;
    std::int64_t old_fill = m_header.log_fill;
    std::int64_t take = left == 0 ? 0 : (left - 1) % group + 1;  // the newest group may be part full
    const std::int64_t fill = take;
    std::vector<std::int64_t> newest_first;
    while (left > 0 && static_cast<std::int64_t>(newest_first.size()) < capacity) {
        newest_first.push_back(shorten(entry_us(old_group)));
        left -= take;
        while (take > 0) {  // step back over the starts of this new group
            const std::int64_t step = std::min(take, old_fill);
            take -= step;
            old_fill -= step;
            if (old_fill == 0) {
                --old_group;
                old_fill = m_header.log_group;
            }
        }
        take = group;
    }
    m_header.log_group = group;
    m_header.log_capacity = capacity;
    m_header.log_total = static_cast<std::int64_t>(newest_first.size());
    m_header.log_fill = fill;
    std::reverse(newest_first.begin(), newest_first.end());
    m_records.replace_log(newest_first);
}

}  // namespace jobthrottle
