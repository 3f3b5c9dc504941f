-- SPDX-License-Identifier: MIT
-- The records of one key, opened at one moment: what lib/core/clocked_key.cpp, header.cpp and
-- start_log.cpp do. decide.lua follows in the same script. The records are described in doc/state.md. All
-- times are microseconds, whole, below 2^53, where a double is exact.
--
-- KEYS  state recent tickets line due registered note

local STATE, RECENT, TICKETS, LINE, DUE, REGISTERED, NOTE = unpack(KEYS)
local floor, max, min = math.floor, math.max, math.min
local call = redis.call

local FOREVER, FAR = 2 ^ 52, 2 ^ 51
local SHORT_SPAN = 2 ^ 48 -- times of starts are kept modulo this
local HEADER_BYTES, ENTRY_BYTES, LOG_EXACT = 256, 6, 2044
local HEADER = '<' .. string.rep('i8', 27)
local TICKET, TICKET_BYTES = '<BBi8i8i8i8', 34 -- then who, to the end
local IN_LINE, OUT, AWAY = 0, 1, 2
local COUNT = {[IN_LINE] = 'in_line', [OUT] = 'out', [AWAY] = 'away'}
local AWAY_SCORE = 2 ^ 50 -- added to the number in `line`

local function text(number) return string.format('%.0f', number) end
local function shorten(us) return us % SHORT_SPAN end
local function lengthen(short, later) return later - (later - short) % SHORT_SPAN end

local h = {} -- its fields, in the order of the bytes below
local now, existed, loaded
local without_expiry = {} -- records made by this call

local function read_header(bytes)
    h.birth, h.offset, h.seen, h.slot, h.slot_rest, h.slot_allow, h.slot_cost, h.log_group, h.log_capacity,
        h.log_total, h.log_fill, h.last_start, h.paused_until, h.paused_by_hand, h.numbers, h.in_line, h.out,
        h.away, h.next_deadline, h.recent_total, h.starts_until, h.tickets_until, h.last_allow, h.last_period,
        h.last_burst, h.idle_until, h.reserved = struct.unpack(HEADER, bytes)
end

local function header_bytes()
    return struct.pack(HEADER, h.birth, h.offset, h.seen, h.slot, h.slot_rest, h.slot_allow, h.slot_cost,
        h.log_group, h.log_capacity, h.log_total, h.log_fill, h.last_start, h.paused_until, h.paused_by_hand,
        h.numbers, h.in_line, h.out, h.away, h.next_deadline, h.recent_total, h.starts_until, h.tickets_until,
        h.last_allow, h.last_period, h.last_burst, h.idle_until, h.reserved)
end

local function new_header()
    read_header(string.rep('\0', 27 * 8))
    h.log_group, h.next_deadline = 1, FOREVER
end

local function tickets_kept() return h.in_line + h.out + h.away end

local function matters_until()
    return max(h.starts_until, h.paused_until, tickets_kept() > 0 and h.tickets_until or 0)
end

-- idle_until is how far the expiry of the records reaches; FOREVER: they have none, in a pause without end. It
-- is set with room ahead, so that most calls need not touch it, and taken back only from much too far.
local function renew_expiry()
    local records = without_expiry
    local matters = matters_until()
    local left = max(matters - now, 60000000)
    local too_far = h.idle_until - matters > left + 1800000000 or h.idle_until == FOREVER and matters < FOREVER
    if matters > h.idle_until or too_far then
        h.idle_until = matters >= FOREVER and FOREVER or matters + 1000000 + floor(left / 2)
        records = {STATE, RECENT, TICKETS, LINE, DUE}
    end
    for _, record in ipairs(records) do
        if h.idle_until == FOREVER then
            call('PERSIST', record)
        else
            call('PEXPIRE', record, text(math.ceil((h.idle_until - now) / 1000)))
        end
    end
end

local function save()
    if header_bytes() == loaded then return end
    if not existed then call('SETRANGE', STATE, 0, 'jtk\1' .. string.rep('\0', HEADER_BYTES - 4)) end
    renew_expiry()
    call('SETRANGE', STATE, 8, header_bytes())
end

-- Before the first write to a new key: a record that outlived its state says nothing any more.
local function begin_anew()
    if not existed then call('UNLINK', RECENT, TICKETS, LINE, DUE) end
end

-- Tickets --------

local function get_ticket(id)
    local bytes = existed and call('HGET', TICKETS, id)
    if not bytes then return nil end
    local t = {}
    t.place, t.caller, t.number, t.told, t.keep, t.since = struct.unpack(TICKET, bytes)
    t.who = string.sub(bytes, TICKET_BYTES + 1)
    return t
end

local function deadline(t) return t.told + (t.place == IN_LINE and min(100000, t.keep) or t.keep) end

-- `before` is the place that the ticket had, if it was there.
local function put_ticket(id, t, before)
    if tickets_kept() == 0 then
        without_expiry[#without_expiry + 1] = TICKETS
        without_expiry[#without_expiry + 1] = DUE
    end
    if h.in_line + h.away == 0 and t.place ~= OUT then without_expiry[#without_expiry + 1] = LINE end
    if before then h[COUNT[before]] = h[COUNT[before]] - 1 end
    local forgotten = t.told + t.keep
    h.tickets_until = tickets_kept() > 0 and max(h.tickets_until, forgotten) or forgotten
    h[COUNT[t.place]] = h[COUNT[t.place]] + 1
    h.next_deadline = min(h.next_deadline, deadline(t))
    local bytes = struct.pack(TICKET, t.place, t.caller, t.number, t.told, t.keep, t.since)
    call('HSET', TICKETS, id, bytes .. t.who)
    call('ZADD', DUE, text(deadline(t)), id)
    if t.place ~= OUT then
        call('ZADD', LINE, text(t.number + (t.place == AWAY and AWAY_SCORE or 0)), id)
    elseif before and before ~= OUT then
        call('ZREM', LINE, id)
    end
end

local function remove_ticket(id, t)
    h[COUNT[t.place]] = h[COUNT[t.place]] - 1
    call('HDEL', TICKETS, id)
    call('ZREM', DUE, id)
    if t.place ~= OUT then call('ZREM', LINE, id) end
end

-- Late tickets step out or are forgotten, at most 16 in one call.
local function sweep()
    for _ = 1, 16 do
        if h.next_deadline >= now then return end
        local id, due = unpack(call('ZRANGE', DUE, 0, 0, 'WITHSCORES'))
        h.next_deadline = id and tonumber(due) or FOREVER
        if not id or h.next_deadline >= now then return end
        local t = get_ticket(id)
        if not t then
            call('ZREM', DUE, id)
            call('ZREM', LINE, id)
        elseif t.place ~= IN_LINE then
            remove_ticket(id, t)
        else
            t.place = t.caller == 1 and AWAY or OUT
            put_ticket(id, t, IN_LINE)
        end
    end
end

-- A server short of memory may have evicted some of the records: then the line begins anew.
local function drop_torn_line()
    if tickets_kept() == 0 then return end
    local records = 2 + (h.in_line + h.away > 0 and 1 or 0)
    if call('EXISTS', TICKETS, DUE, LINE) == records then return end
    call('UNLINK', TICKETS, DUE, LINE)
    h.in_line, h.out, h.away, h.next_deadline = 0, 0, 0, FOREVER
end

-- Opens the key at this moment. Returns what is wrong with its state, if anything is.
local function open(store_now)
    local bytes = call('GETRANGE', STATE, 0, HEADER_BYTES - 1)
    new_header()
    existed = bytes ~= ''
    if existed then
        if #bytes < HEADER_BYTES or string.sub(bytes, 1, 3) ~= 'jtk' then return 'foreign' end
        local version = string.byte(bytes, 4)
        if version ~= 1 then return version > 1 and 'newer' or 'foreign' end
        loaded = string.sub(bytes, 9, 8 + 27 * 8)
        read_header(loaded)
        h.offset = max(h.offset, h.seen - store_now)
    end
    now = store_now + h.offset
    if existed and now > matters_until() then
        call('UNLINK', STATE, RECENT, TICKETS, LINE, DUE)
        new_header()
        existed, now = false, store_now
    end
    h.seen = now
    if not existed then
        h.birth = now
        loaded = header_bytes()
    end
    drop_torn_line()
    sweep()
end

-- The log of starts --------

local function entry_offset(group) return HEADER_BYTES + ENTRY_BYTES * (group % h.log_capacity) end

local function entry_us(group)
    local at = entry_offset(group)
    local bytes = call('GETRANGE', STATE, at, at + ENTRY_BYTES - 1)
    if #bytes < ENTRY_BYTES then return h.last_start end
    return lengthen(struct.unpack('<I6', bytes), h.last_start)
end

local function kept_groups() return min(h.log_total, h.log_capacity) end

-- When the count-th newest start was, or nothing.
local function start_back(count)
    if h.log_total == 0 then return nil end
    local starts = (h.log_total - 1) * h.log_group + h.log_fill
    if count > starts then return nil end
    local group = floor((starts - count) / h.log_group)
    if group < h.log_total - kept_groups() then return nil end
    return entry_us(group)
end

local function layout_for(rate)
    if rate.allow > LOG_EXACT then return floor((rate.allow + LOG_EXACT - 1) / LOG_EXACT), LOG_EXACT + 1 end
    local capacity = 8
    while capacity < rate.allow do capacity = capacity * 2 end
    return 1, min(capacity, LOG_EXACT + 1)
end

local function lay_out(rate)
    local group, capacity = layout_for(rate)
    capacity = max(h.log_capacity, capacity)
    if group == h.log_group and capacity == h.log_capacity then return end
    local kept = kept_groups()
    local left = kept == 0 and 0 or (kept - 1) * h.log_group + h.log_fill
    local old_group, old_fill = h.log_total - 1, h.log_fill
    local take = left == 0 and 0 or (left - 1) % group + 1
    local fill = take
    local newest_first = {}
    while left > 0 and #newest_first < capacity do
        newest_first[#newest_first + 1] = struct.pack('<I6', shorten(entry_us(old_group)))
        left = left - take
        while take > 0 do
            local step = min(take, old_fill)
            take = take - step
            old_fill = old_fill - step
            if old_fill == 0 then old_group, old_fill = old_group - 1, h.log_group end
        end
        take = group
    end
    h.log_group, h.log_capacity, h.log_total, h.log_fill = group, capacity, #newest_first, fill
    local oldest_first = {}
    for i = #newest_first, 1, -1 do oldest_first[#oldest_first + 1] = newest_first[i] end
    if #oldest_first > 0 then call('SETRANGE', STATE, HEADER_BYTES, table.concat(oldest_first)) end
end

local function add_to_log(at, rate)
    lay_out(rate)
    if h.log_total == 0 or h.log_fill == h.log_group then h.log_total, h.log_fill = h.log_total + 1, 0 end
    h.log_fill = h.log_fill + 1
    h.last_start = at
    call('SETRANGE', STATE, entry_offset(h.log_total - 1), struct.pack('<I6', shorten(at)))
end
