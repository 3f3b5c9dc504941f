-- SPDX-License-Identifier: MIT
-- The logs of starts: what lib/core/start_log.cpp does --------

local start_back, add_to_logs, change_logs

do
    local LOG_EXACT = 2044

    local function kept(log) return min(h.rows[log].total, h.rows[log].capacity) end

    local function entry_us(log, entry) return short_time(read_log(log, entry % h.rows[log].capacity, 1), 1) end

    -- Of this log as it is now, for when many of its entries are read.
    local function entry_reader(log)
        local bytes, capacity = read_log(log, 0, kept(log)), h.rows[log].capacity
        return function(entry) return short_time(bytes, entry % capacity * ENTRY_BYTES + 1) end
    end

    local function group_for(allow)
        return allow <= LOG_EXACT and 1 or floor((allow + LOG_EXACT - 1) / LOG_EXACT)
    end

    local function capacity_for(rate)
        local needed, capacity = min(rate.allow + 1, LOG_EXACT + 1), 8
        while capacity < needed do capacity = capacity * 2 end
        return min(capacity, LOG_EXACT + 1)
    end

    local function log_for(group)
        local found, reach
        for log = 1, ROWS do
            local r = h.rows[log]
            if r.group ~= 0 then
                if r.group == group then return log end
                local starts = kept(log) * r.group
                if not found or starts > reach then found, reach = log, starts end
            end
        end
        return found
    end

    -- When the count-th newest start was, or nothing.
    function start_back(rate, count)
        local log = log_for(group_for(rate.allow))
        local r = log and h.rows[log]
        if not log or r.total == 0 then return nil end
        local starts = (r.total - 1) * r.group + r.fill
        if count > starts then return nil end
        local entry = floor((starts - count) / r.group)
        if entry < r.total - kept(log) then return nil end
        return entry_us(log, entry)
    end

    local function first_after(log, at)
        local first, last = h.rows[log].total - kept(log), h.rows[log].total
        while first < last do
            local middle = first + floor((last - first) / 2)
            if entry_us(log, middle) > at then last = middle else first = middle + 1 end
        end
        return first
    end

    local function is_needed(group, rates)
        for _, rate in ipairs(rates) do
            if group_for(rate.allow) == group then return true end
        end
        return false
    end

    local function place_for(at, rates)
        local found
        for log = 1, ROWS do
            local r = h.rows[log]
            if r.group == 0 then return log end
            if not is_needed(r.group, rates) then
                if r.log_until < at then return log end
                if not found or r.log_until < h.rows[found].log_until then found = log end
            end
        end
        return found or 1
    end

    local function replace_log(log, entries)
        if #entries > 0 then write_log(log, 0, table.concat(entries)) end
    end

    local function lay_out(from, to, group, capacity)
        local source = from and h.rows[from] or {total = 0, fill = 0, group = 0}
        local entries = from and kept(from) or 0
        local left = entries == 0 and 0 or (entries - 1) * source.group + source.fill
        local old_entry, old_fill, old_group = source.total - 1, source.fill, source.group
        local take = left == 0 and 0 or (left - 1) % group + 1
        local fill = take
        local newest_first = {}
        local entry_at = left > 0 and entry_reader(from)
        while left > 0 and #newest_first < capacity do
            newest_first[#newest_first + 1] = pack('<I6', shorten(entry_at(old_entry)))
            left = left - take
            while take > 0 do
                local step = min(take, old_fill)
                take = take - step
                old_fill = old_fill - step
                if old_fill == 0 then old_entry, old_fill = old_entry - 1, old_group end
            end
            take = group
        end
        local r = h.rows[to]
        if from ~= to then r.log_until = 0 end
        r.group, r.capacity, r.total, r.fill = group, capacity, #newest_first, fill
        local oldest_first = {}
        for i = #newest_first, 1, -1 do oldest_first[#oldest_first + 1] = newest_first[i] end
        replace_log(to, oldest_first)
    end

    local function be_ready(at, rate, rates)
        local group, capacity = group_for(rate.allow), capacity_for(rate)
        local best = log_for(group)
        local log = best or 1
        if not best or h.rows[log].group ~= group then
            log = place_for(at, rates)
            lay_out(best, log, group, capacity)
        elseif h.rows[log].capacity < capacity then
            lay_out(log, log, group, capacity)
        end
        h.rows[log].log_until = max(h.rows[log].log_until, at + rate.period)
    end

    local function put_newest(log, count, at)
        local r = h.rows[log]
        local first = (r.total - count) % r.capacity
        local before_end = min(count, r.capacity - first)
        put_log_entries(log, first, before_end, at)
        if count > before_end then put_log_entries(log, 0, count - before_end, at) end
    end

    local function push(log, at, cost)
        local r = h.rows[log]
        local touched = 0
        if r.total > 0 and r.fill < r.group then
            local step = min(cost, r.group - r.fill)
            r.fill = r.fill + step
            cost = cost - step
            touched = 1
        end
        local entries = floor((cost + r.group - 1) / r.group)
        if entries > 0 then
            r.total = r.total + entries
            r.fill = cost - (entries - 1) * r.group
        end
        put_newest(log, min(touched + entries, r.capacity), at)
    end

    function add_to_logs(at, cost, rates)
        for _, rate in ipairs(rates) do be_ready(at, rate, rates) end
        for log = 1, ROWS do
            local r = h.rows[log]
            if r.group ~= 0 then
                if r.log_until < at then
                    r.group, r.capacity, r.total, r.fill, r.log_until = 0, 0, 0, 0, 0
                else
                    push(log, at, cost)
                end
            end
        end
        h.last_start = at
    end

    -- The oldest starts of a window are not in the log any more.
    local function is_over_full(log)
        local r, longest = h.rows[log], 0
        if kept(log) < r.capacity then return false end
        for _, row in ipairs(h.rows) do
            if row.last_allow > 0 and group_for(row.last_allow) == r.group then
                longest = max(longest, row.last_period)
            end
        end
        return entry_us(log, r.total - kept(log)) > max(h.seen, h.last_start) - longest
    end

    local function change_log(log, at, by)
        local r = h.rows[log]
        local group, entries_kept = r.group, kept(log)
        local oldest = r.total - entries_kept
        local later = first_after(log, at)
        local starts = entries_kept == 0 and 0 or (entries_kept - 1) * group + r.fill
        local place = later == r.total and starts or (later - oldest) * group
        if by < 0 then
            if is_over_full(log) then return end
            local there = group == 1 and later - first_after(log, at - 1) or place
            by = -min(-by, there)
        end
        if by == 0 then return end
        local left = starts + by
        local entries = floor((left + group - 1) / group)
        local dropped = max(0, entries - r.capacity)
        local entry_at, times = entry_reader(log), {}
        local moved_from = by > 0 and place or place + by
        for entry = dropped, entries - 1 do
            local last = min((entry + 1) * group, left) - 1
            local time = at
            if by < 0 or last < place or last >= place + by then
                time = entry_at(oldest + floor((last < moved_from and last or last - by) / group))
            end
            times[#times + 1] = pack('<I6', shorten(time))
        end
        r.total = entries - dropped
        r.fill = r.total == 0 and 0 or left - (entries - 1) * group
        replace_log(log, times)
    end

    function change_logs(at, by)
        for log = 1, ROWS do
            if h.rows[log].group > 0 then change_log(log, at, by) end
        end
    end
end
