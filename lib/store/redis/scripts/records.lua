-- SPDX-License-Identifier: MIT
-- The records of the keys of one call, as they are in Redis: header, logs, recent starts, tickets, leases and
-- wake lists. What lib/core/header.cpp and memory_records.cpp do. The other files follow in the same script, each
-- using what stands before it: log, key, rates, judge, attempts, ask, decide. doc/state.md describes the records.
-- All times are microseconds, whole, below 2^53, where a double is exact.
--
-- KEYS  for each key: state recent tickets line due registered note log1 log2 log3 leases wake1 wake2 wake3
--       wake4

local floor, max, min = math.floor, math.max, math.min
local call, pack, unpack_bytes, sub = redis.call, struct.pack, struct.unpack, string.sub

local FOREVER, FAR = 2 ^ 52, 2 ^ 51
local SHORT_SPAN = 2 ^ 48 -- times of starts are kept modulo this
local HEADER_BYTES, CORE_BYTES, ROW_BYTES, ENTRY_BYTES = 640, 27 * 8, 12 * 8, 6
local CORE = '<i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8i8'
local ROW = '<i8i8i8i8i8i8i8i8i8i8i8i8'
local TICKET, TICKET_BYTES = '<BBBBi8i8i8i8i8', 44 -- then who, to the end
local LEASE, LEASE_BYTES = '<BBBi8i8i8i8', 35 -- likewise
local IN_LINE, OUT, AWAY = 0, 1, 2
local AWAY_SCORE, OPEN_SCORE = 2 ^ 50, 2 ^ 51 -- added in `line` to the number, or to the start of an open lease
local RECENT_STARTS, RECENT_BYTES = 1024, 14
local RECORDS_OF_A_KEY, ROWS, WAKE_MS = 15, 4, 10000

local function text(number) return string.format('%.0f', number) end
local function shorten(us) return us % SHORT_SPAN end
local function lengthen(short, later) return later - (later - short) % SHORT_SPAN end

-- The key in work: its records and what is known of them, its header, its time. enter() changes to another.
local K, h, now

local function enter(key)
    K, h, now = key, key.h, key.now
end

-- The i-th key of KEYS.
local function key_at(i)
    local at = (i - 1) * RECORDS_OF_A_KEY
    return {state = KEYS[at + 1], recent = KEYS[at + 2], tickets = KEYS[at + 3], line = KEYS[at + 4],
        due = KEYS[at + 5], registered = KEYS[at + 6], note = KEYS[at + 7],
        logs = {KEYS[at + 8], KEYS[at + 9], KEYS[at + 10]}, leases = KEYS[at + 11], wakes = at + 11,
        h = false, now = 0, existed = false, loaded = false, begun = false, room = false,
        log_there = {}, made = {}} -- made: records that may have no expiry yet
end

-- Header --------

local function new_row()
    return {slot = 0, slot_rest = 0, slot_allow = 0, slot_cost = 0, group = 0, capacity = 0, total = 0, fill = 0,
        log_until = 0, last_allow = 0, last_period = 0, last_burst = 0}
end

local function read_row(bytes, at)
    local r = new_row()
    r.slot, r.slot_rest, r.slot_allow, r.slot_cost, r.group, r.capacity, r.total, r.fill, r.log_until,
        r.last_allow, r.last_period, r.last_burst = unpack_bytes(ROW, bytes, at)
    return r
end

local ZEROS = string.rep('\0', HEADER_BYTES)
local ZERO_ROW = sub(ZEROS, 1, ROW_BYTES)

local function new_header()
    h = {birth = 0, offset = 0, seen = 0, last_start = 0, paused_until = 0, paused_by_hand = 0, paced_number = 0,
        numbers = 0, in_line = 0, out = 0, away = 0, line_cost = 0, wakes = 0, next_deadline = FOREVER,
        recent_total = 0, starts_until = 0, tickets_until = 0, leases = 0, held = 0, places = 0, open = 0,
        next_lease = FOREVER, leases_until = 0, last_concurrency = 0, last_departure = 0, departure = 0,
        idle_until = 0, rows = {new_row(), new_row(), new_row(), new_row()}}
    K.h = h
end

-- All after the tag.
local function read_header(bytes)
    new_header()
    h.birth, h.offset, h.seen, h.last_start, h.paused_until, h.paused_by_hand, h.paced_number, h.numbers, h.in_line,
        h.out, h.away, h.line_cost, h.wakes, h.next_deadline, h.recent_total, h.starts_until, h.tickets_until,
        h.leases, h.held, h.places, h.open, h.next_lease, h.leases_until, h.last_concurrency, h.last_departure,
        h.departure, h.idle_until = unpack_bytes(CORE, bytes)
    for i = 1, ROWS do
        local at = CORE_BYTES + (i - 1) * ROW_BYTES
        if sub(bytes, at + 1, at + ROW_BYTES) ~= ZERO_ROW then h.rows[i] = read_row(bytes, at + 1) end
    end
end

local function rows_in_use()
    for i = ROWS, 1, -1 do
        local r = h.rows[i]
        if r.slot_allow ~= 0 or r.group ~= 0 or r.last_allow ~= 0 then return i end
    end
    return 0
end

-- Without the rows that are not in use.
local function header_bytes()
    local bytes = pack(CORE, h.birth, h.offset, h.seen, h.last_start, h.paused_until, h.paused_by_hand,
        h.paced_number, h.numbers, h.in_line, h.out, h.away, h.line_cost, h.wakes, h.next_deadline, h.recent_total,
        h.starts_until, h.tickets_until, h.leases, h.held, h.places, h.open, h.next_lease, h.leases_until,
        h.last_concurrency, h.last_departure, h.departure, h.idle_until)
    for i = 1, rows_in_use() do
        local r = h.rows[i]
        bytes = bytes .. pack(ROW, r.slot, r.slot_rest, r.slot_allow, r.slot_cost, r.group, r.capacity, r.total,
            r.fill, r.log_until, r.last_allow, r.last_period, r.last_burst)
    end
    return bytes
end

-- Before the first write to a new key: a record that outlived its state says nothing any more.
local function begin_anew()
    if K.existed or K.begun then return end
    K.begun = true
    call('UNLINK', K.recent, K.tickets, K.line, K.due, K.leases, K.logs[1], K.logs[2], K.logs[3])
end

local function clear()
    call('UNLINK', K.state, K.recent, K.tickets, K.line, K.due, K.leases, K.logs[1], K.logs[2], K.logs[3])
end

-- Logs: 1 is in the state, behind the header; 2 to 4 are records of their own --------

local function log_record(log)
    if log == 1 then return K.state, HEADER_BYTES end
    return K.logs[log - 1], 0
end

local function write_log(log, position, bytes)
    local record, from = log_record(log)
    if log > 1 and not K.log_there[log] then
        begin_anew()
        K.log_there[log], K.made[record] = true, true
    end
    call('SETRANGE', record, from + ENTRY_BYTES * position, bytes)
end

local function put_log_entries(log, position, count, at)
    write_log(log, position, string.rep(pack('<I6', shorten(at)), count))
end

local function read_log(log, position, count)
    local record, from = log_record(log)
    from = from + ENTRY_BYTES * position
    return call('GETRANGE', record, from, from + ENTRY_BYTES * count - 1)
end

local function short_time(bytes, at)
    if #bytes < at + ENTRY_BYTES - 1 then return h.last_start end
    return lengthen(unpack_bytes('<I6', bytes, at), h.last_start)
end

-- Recent starts --------

-- Where the id is, from this place of the ring on.
local function find_id(ring, id, from)
    while true do
        local at = string.find(ring, id, from, true)
        if not at then return nil end
        if (at - 1) % RECENT_BYTES == 0 and at + RECENT_BYTES - 1 <= #ring then return at end
        from = at + 1
    end
end

local function find_recent(id)
    if not K.existed then return nil end
    local ring = call('GETRANGE', K.recent, 0, -1)
    local at = find_id(ring, id, 1)
    return at and lengthen(unpack_bytes('<I6', ring, at + 8), h.last_start)
end

local function put_recent(id, at)
    if h.recent_total == 0 then K.made[K.recent] = true end
    call('SETRANGE', K.recent, RECENT_BYTES * (h.recent_total % RECENT_STARTS), id .. pack('<I6', shorten(at)))
end

local function drop_recent(id)
    local ring = call('GETRANGE', K.recent, 0, -1)
    local at = find_id(ring, id, 1)
    while at do
        call('SETRANGE', K.recent, at - 1, sub(ZEROS, 1, 8))
        at = find_id(ring, id, at + 1)
    end
end

-- Tickets and leases, in one hash --------

local function tickets_kept() return h.in_line + h.out + h.away end

local function as_ticket(bytes)
    local t = {}
    t.place, t.caller, t.wake, t.offered, t.number, t.told, t.keep, t.cost, t.since = unpack_bytes(TICKET, bytes)
    t.who = sub(bytes, TICKET_BYTES + 1)
    return t
end

local function get_ticket(id)
    local bytes = K.existed and call('HGET', K.tickets, id)
    return bytes and as_ticket(bytes) or nil
end

local function deadline(t) return t.told + (t.place == IN_LINE and min(100000, t.keep) or t.keep) end

local function ticket_score(t) return text(t.number + (t.place == AWAY and AWAY_SCORE or 0)) end

-- `before`: as it was, if it was there. The counts of the header are as before the change; so write_lease().
local function write_ticket(id, t, before)
    if tickets_kept() == 0 then
        K.made[K.tickets], K.made[K.due] = true, true
    end
    if h.in_line + h.away + h.open == 0 then K.made[K.line] = true end
    call('HSET', K.tickets, id, pack(TICKET, t.place, t.caller, t.wake, t.offered, t.number, t.told, t.keep, t.cost,
        t.since) .. t.who)
    call('ZADD', K.due, text(deadline(t)), id)
    if t.place ~= OUT then
        call('ZADD', K.line, ticket_score(t), id)
    elseif before and before.place ~= OUT then
        call('ZREM', K.line, id)
    end
end

local function erase_ticket(id, t)
    call('HDEL', K.tickets, id)
    call('ZREM', K.due, id)
    if t.place ~= OUT then call('ZREM', K.line, id) end
end

-- The first `count` in line: id, number, id, number ...
local function line_head(count)
    count = min(count, h.in_line)
    return count > 0 and call('ZRANGE', K.line, 0, count - 1, 'WITHSCORES') or {}
end

-- Id and number of the first who is away.
local function lowest_away()
    local away = call('ZRANGEBYSCORE', K.line, text(AWAY_SCORE), '(' .. text(OPEN_SCORE), 'WITHSCORES', 'LIMIT', 0, 1)
    if away[1] then return away[1], tonumber(away[2]) - AWAY_SCORE end
end

local function as_lease(bytes)
    local l = {}
    l.held, l.place, l.open, l.cost, l.at, l.until_us, l.length = unpack_bytes(LEASE, bytes)
    l.who = sub(bytes, LEASE_BYTES + 1)
    return l
end

local function get_lease(id)
    local bytes = K.existed and call('HGET', K.tickets, 'L' .. id)
    return bytes and as_lease(bytes) or nil
end

local LOST_LEASE_KEPT = 600000000
local function lease_deadline(l) return l.until_us + (l.held == 1 and 0 or LOST_LEASE_KEPT) end

local function lease_bytes(l)
    return pack(LEASE, l.held, l.place, l.open, l.cost, l.at, l.until_us, l.length) .. l.who
end

local function write_lease(id, l)
    if h.leases == 0 then
        K.made[K.tickets], K.made[K.leases] = true, true
    end
    local field = 'L' .. id
    call('HSET', K.tickets, field, lease_bytes(l))
    call('ZADD', K.leases, text(lease_deadline(l)), field)
    if l.open == 1 and l.held == 1 then
        if h.in_line + h.away + h.open == 0 then K.made[K.line] = true end
        call('ZADD', K.line, text(OPEN_SCORE + l.at), field)
    elseif h.open > 0 then
        call('ZREM', K.line, field)
    end
end

local function erase_lease(id, l)
    local field = 'L' .. id
    call('HDEL', K.tickets, field)
    call('ZREM', K.leases, field)
    if l.open == 1 then call('ZREM', K.line, field) end
end

-- How many open leases started at this time or earlier.
local function open_since(at) return call('ZCOUNT', K.line, text(OPEN_SCORE), text(OPEN_SCORE + at)) end

-- Wake lists --------

-- One element, so that nobody is woken twice; it does not outlive the one that it is for by much.
local function wake(id, n)
    local list = KEYS[K.wakes + n]
    call('UNLINK', list)
    call('LPUSH', list, id)
    call('PEXPIRE', list, WAKE_MS)
end

local function silence(n) call('UNLINK', KEYS[K.wakes + n]) end
