// SPDX-License-Identifier: MIT
#include "core/start_log.hpp"

#include <algorithm>

namespace jobthrottle {

namespace {

constexpr std::int64_t k_smallest_log = 8;

std::int64_t group_for(const Rate& rate) {
    return rate.allow() <= k_log_exact ? 1 : (rate.allow() + k_log_exact - 1) / k_log_exact;
}

// Entries doubled up to what the rate needs, so that a limit that grows step by step moves its log rarely.
// One more than a window holds, so that a window that is over its limit is told from a full one.
std::int64_t capacity_for(const Rate& rate) {
    const std::int64_t needed = std::min(rate.allow() + 1, k_log_entries);
    std::int64_t capacity = k_smallest_log;
    while (capacity < needed)
        capacity *= 2;
    return std::min(capacity, k_log_entries);
}

bool needed(std::int64_t group, const std::vector<Rate>& rates) {
    return std::any_of(rates.begin(), rates.end(),
                       [&](const Rate& rate) { return group_for(rate) == group; });
}

}  // namespace

std::int64_t StartLogs::kept(std::size_t log) const {
    return std::min(row(log).log_total, row(log).log_capacity);
}

std::int64_t StartLogs::entry_us(std::size_t log, std::int64_t entry) const {
    return lengthen(m_records.log_entry(log, entry % row(log).log_capacity), m_header.last_start_us);
}

// The log of this group, else the one that reaches back over the most starts.
std::optional<std::size_t> StartLogs::log_for(std::int64_t group) const {
    std::optional<std::size_t> found;
    std::int64_t reach = 0;
    for (std::size_t log = 0; log < Header::k_rows; ++log) {
        if (row(log).log_group == 0) continue;
        if (row(log).log_group == group) return log;
        const std::int64_t starts = kept(log) * row(log).log_group;
        if (found && starts <= reach) continue;
        found = log;
        reach = starts;
    }
    return found;
}

std::optional<std::int64_t> StartLogs::start_back(const Rate& rate, std::int64_t count) const {
    const auto log = log_for(group_for(rate));
    if (!log || row(*log).log_total == 0) return std::nullopt;
    const LimitRow& state = row(*log);
    const std::int64_t starts = (state.log_total - 1) * state.log_group + state.log_fill;
    if (count > starts) return std::nullopt;
    const std::int64_t entry = (starts - count) / state.log_group;
    if (entry < state.log_total - kept(*log)) return std::nullopt;
    return entry_us(*log, entry);
}

// The first entry that is later; log_total where none is.
std::int64_t StartLogs::first_after(std::size_t log, std::int64_t at_us) const {
    std::int64_t first = row(log).log_total - kept(log);
    std::int64_t end = row(log).log_total;
    while (first < end) {
        const std::int64_t middle = first + (end - first) / 2;
        if (entry_us(log, middle) > at_us) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    return first;
}

std::int64_t StartLogs::count_after(const Rate& rate, std::int64_t from_us) const {
    const auto log = log_for(group_for(rate));
    if (!log) return 0;
    const LimitRow& state = row(*log);
    const std::int64_t first = first_after(*log, from_us);
    if (first == state.log_total) return 0;
    return (state.log_total - 1 - first) * state.log_group + state.log_fill;
}

// Where a new log goes: the first place that is free or whose log is over, else that of the log that is over
// first; never that of one needed now.
std::size_t StartLogs::place_for(std::int64_t at_us, const std::vector<Rate>& rates) const {
    std::optional<std::size_t> found;
    for (std::size_t log = 0; log < Header::k_rows; ++log) {
        const LimitRow& state = row(log);
        if (state.log_group == 0) return log;
        if (needed(state.log_group, rates)) continue;
        if (state.log_until_us < at_us) return log;
        if (!found || state.log_until_us < row(*found).log_until_us) found = log;
    }
    return found.value_or(0);
}

void StartLogs::be_ready(std::int64_t at_us, const Rate& rate, const std::vector<Rate>& rates) {
    const std::int64_t group = group_for(rate);
    const std::int64_t capacity = capacity_for(rate);
    const auto best = log_for(group);
    std::size_t log = best.value_or(0);
    if (!best || row(log).log_group != group) {
        log = place_for(at_us, rates);
        lay_out(best, log, group, capacity);
    } else if (row(log).log_capacity < capacity) {
        lay_out(log, log, group, capacity);
    }
    LimitRow& state = m_header.rows[log];
    state.log_until_us = std::max(state.log_until_us, at_us + rate.period().count());
}

void StartLogs::add(std::int64_t at_us, std::int64_t cost, const std::vector<Rate>& rates) {
    for (const Rate& rate : rates)
        be_ready(at_us, rate, rates);
    for (std::size_t log = 0; log < Header::k_rows; ++log) {
        LimitRow& state = m_header.rows[log];
        if (state.log_group == 0) continue;
        if (state.log_until_us < at_us) {
            state.log_group = state.log_capacity = state.log_total = state.log_fill = state.log_until_us = 0;
        } else {
            push(log, at_us, cost);
        }
    }
    m_header.last_start_us = at_us;
}

void StartLogs::push(std::size_t log, std::int64_t at_us, std::int64_t cost) {
    LimitRow& state = m_header.rows[log];
    std::int64_t touched = 0;
    if (state.log_total > 0 && state.log_fill < state.log_group) {
        const std::int64_t step = std::min(cost, state.log_group - state.log_fill);
        state.log_fill += step;
        cost -= step;
        touched = 1;
    }
    const std::int64_t entries = (cost + state.log_group - 1) / state.log_group;
    if (entries > 0) {
        state.log_total += entries;
        state.log_fill = cost - (entries - 1) * state.log_group;
    }
    put_newest(log, std::min(touched + entries, state.log_capacity), at_us);
}

// The newest `count` entries are at this time.
void StartLogs::put_newest(std::size_t log, std::int64_t count, std::int64_t at_us) {
    const LimitRow& state = row(log);
    const std::int64_t first = (state.log_total - count) % state.log_capacity;
    const std::int64_t before_end = std::min(count, state.log_capacity - first);
    m_records.put_log_entries(log, first, before_end, shorten(at_us));
    if (count > before_end) m_records.put_log_entries(log, 0, count - before_end, shorten(at_us));
}

// The same starts in groups of another size, the newest kept. Whole groups are walked from the newest back,
// so the work is bound by the entries of both layouts and not by the limit.
void StartLogs::lay_out(std::optional<std::size_t> from, std::size_t to, std::int64_t group,
                        std::int64_t capacity) {
    const LimitRow source = from ? row(*from) : LimitRow{};
    const std::int64_t entries = from ? kept(*from) : 0;
    std::int64_t left = entries == 0 ? 0 : (entries - 1) * source.log_group + source.log_fill;
    std::int64_t old_entry = source.log_total - 1;
    std::int64_t old_fill = source.log_fill;
    std::int64_t take = left == 0 ? 0 : (left - 1) % group + 1;  // the newest group may be part full
    const std::int64_t fill = take;
    std::vector<std::int64_t> newest_first;
    while (left > 0 && static_cast<std::int64_t>(newest_first.size()) < capacity) {
        newest_first.push_back(shorten(entry_us(*from, old_entry)));
        left -= take;
        while (take > 0) {  // step back over the starts of this new group
            const std::int64_t step = std::min(take, old_fill);
            take -= step;
            old_fill -= step;
            if (old_fill == 0) {
                --old_entry;
                old_fill = source.log_group;
            }
        }
        take = group;
    }
    LimitRow& state = m_header.rows[to];
    if (from != to) state.log_until_us = 0;
    state.log_group = group;
    state.log_capacity = capacity;
    state.log_total = static_cast<std::int64_t>(newest_first.size());
    state.log_fill = fill;
    std::reverse(newest_first.begin(), newest_first.end());
    m_records.replace_log(to, newest_first);
}

void StartLogs::change(std::int64_t at_us, std::int64_t by) {
    for (std::size_t log = 0; log < Header::k_rows; ++log) {
        if (row(log).log_group > 0) change(log, at_us, by);
    }
}

// Charging more may have put so many into a window that the oldest of them are not in the log any more. What
// is taken out then would be missed in place of those.
bool StartLogs::is_over_full(std::size_t log) const {
    if (kept(log) < row(log).log_capacity) return false;
    std::int64_t longest = 0;
    for (const LimitRow& state : m_header.rows) {
        const auto rate = state.last_rate();
        if (rate && group_for(*rate) == row(log).log_group)
            longest = std::max(longest, rate->period().count());
    }
    const std::int64_t end = std::max(m_header.seen_us, m_header.last_start_us);
    return entry_us(log, row(log).log_total - kept(log)) > end - longest;
}

// Starts are numbered from the oldest kept; the changed ones stand before those that are later than at_us. In
// a log of groups the times of others may move to a later one, never to an earlier.
void StartLogs::change(std::size_t log, std::int64_t at_us, std::int64_t by) {
    LimitRow& state = m_header.rows[log];
    const std::int64_t group = state.log_group;
    const std::int64_t oldest = state.log_total - kept(log);
    const std::int64_t later = first_after(log, at_us);
    const std::int64_t starts = kept(log) == 0 ? 0 : (kept(log) - 1) * group + state.log_fill;
    const std::int64_t place = later == state.log_total ? starts : (later - oldest) * group;
    if (by < 0) {
        if (is_over_full(log)) return;
        const std::int64_t there = group == 1 ? later - first_after(log, at_us - 1) : place;
        by = -std::min(-by, there);
    }
    if (by == 0) return;

    const std::int64_t left = starts + by;
    const std::int64_t entries = (left + group - 1) / group;
    const std::int64_t dropped = std::max<std::int64_t>(0, entries - state.log_capacity);
    std::vector<std::int64_t> times;
    for (std::int64_t entry = dropped; entry < entries; ++entry) {
        const std::int64_t last = std::min((entry + 1) * group, left) - 1;
        const bool added = by > 0 && last >= place && last < place + by;
        const std::int64_t before = last < (by > 0 ? place : place + by) ? last : last - by;
        times.push_back(shorten(added ? at_us : entry_us(log, oldest + before / group)));
    }
    state.log_total = entries - dropped;
    state.log_fill = state.log_total == 0 ? 0 : left - (entries - 1) * group;
    m_records.replace_log(log, times);
}

}  // namespace jobthrottle
