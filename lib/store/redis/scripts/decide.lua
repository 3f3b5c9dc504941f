-- SPDX-License-Identifier: MIT
-- One decision on one key: what lib/core does (decide.cpp, judgement.cpp, slots.cpp), to the same bytes;
-- tests/contract/lua_compare_test.cpp holds the two equal. In one script behind records.lua.
--
-- ARGV  op, database, clock in us (empty: TIME), then by op
--   ask       start id, place id (8 bytes each), fresh, allow, period, burst (allow 0: no rate), pause only,
--             override, caller, keep, taking (0 place, 1 start, 2 nothing), come back, who
--   cancel    place id
--   pause     length (empty: for ever), by hand, note
--   resume
--   forget    force
--   register  the registration (empty: none)
-- Reply 'ok' and what the op says, integers but for register; or 'foreign', 'newer', 'no database'.

local RECENT_STARTS, RECENT_BYTES = 1024, 14
local RANKED, EXACT_SLOTS = 64, 256
local NOTE_KEPT_MS = 7 * 86400 * 1000

-- Rates --------

local function make_rate(allow, period, burst)
    if period < 1000 or period > 366 * 86400 * 1000000 then return nil end
    if allow < 1 or allow > period or burst < 1 or burst > allow then return nil end
    local q = floor(period / allow)
    return {allow = allow, period = period, burst = burst, q = q, m = period - q * allow,
        grant = min(period, 100000)}
end

local PAUSE_ONLY_PACE = make_rate(10, 1000000, 1)

local function same(a, b) return a.allow == b.allow and a.period == b.period and a.burst == b.burst end

local function registered_rate()
    local bytes = call('GET', REGISTERED)
    if not bytes then return nil end
    local allow, period, burst, at = string.match(bytes, '^(%d+) (%d+) (%d+) (%d+) ')
    if not allow or #at > 18 then return nil end
    return make_rate(tonumber(allow), tonumber(period), tonumber(burst))
end

-- Slots: a time and a rest in allow-ths of a microsecond --------

local function up(t, rest) return rest > 0 and t + 1 or t end

local function later_slot(t1, r1, t2, r2)
    if t1 < t2 or t1 == t2 and r1 < r2 then return t2, r2 end
    return t1, r1
end

local function slot_after(t, rest, count, rate)
    if count > EXACT_SLOTS then
        local far = min(count * (rate.q + (rate.m > 0 and 1 or 0)), FAR)
        return min(up(t, rest) + floor(far), FOREVER), 0
    end
    local over = rest + count * rate.m
    local whole = floor(over / rate.allow)
    local time = t + count * rate.q + whole
    if time >= FOREVER then return FOREVER, 0 end
    return time, over - whole * rate.allow
end

local function slot_before(now, count, rate)
    if count > EXACT_SLOTS then
        return now - count * rate.q - floor(count * rate.m / rate.allow), 0
    end
    local over = count * rate.m
    local whole = floor((over + rate.allow - 1) / rate.allow)
    return now - count * rate.q - whole, whole * rate.allow - over
end

-- Judgement --------

local function standing_of(own)
    local s = {others = h.in_line - (own and own.place == IN_LINE and 1 or 0)}
    if not own then
        s.number, s.rank = h.numbers + 1, s.others
        return s
    end
    s.number, s.rank = own.number, 0
    if s.others > 0 then s.rank = min(call('ZCOUNT', LINE, '-inf', '(' .. text(own.number)), RANKED) end
    if s.rank == RANKED then
        local last = call('ZRANGE', LINE, RANKED - 1, RANKED - 1, 'WITHSCORES')
        s.rank = min(s.others, RANKED + own.number - tonumber(last[2]) - 1)
    end
    return s
end

-- How many of those ahead could start now: the window must have room for them, too.
local function due_ahead(t, rest, s, rate)
    local due, considered = 0, min(s.rank, 16)
    while due < considered and up(slot_after(t, rest, due, rate)) <= now do due = due + 1 end
    if due < rate.allow - 1 and h.away > 0 then
        local away = call('ZRANGEBYSCORE', LINE, text(AWAY_SCORE), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
        if away[2] and tonumber(away[2]) - AWAY_SCORE < s.number then due = due + 1 end
    end
    return due
end

local function judge(s, brought)
    local rate = brought or PAUSE_ONLY_PACE
    local paused = now < h.paused_until
    local newcomer = s.number > h.numbers -- who has waited is paced to the last
    if not brought and not paused and newcomer and s.others == 0 then
        local at = max(now, h.last_start)
        if at <= now + rate.grant then return {starts = true, t = at, rest = 0, at = at, possible = at} end
    end
    local t, rest = slot_before(now, min(s.others, 2) + rate.burst - 1, rate)
    if h.paused_until > 0 then t, rest = later_slot(t, rest, h.paused_until, 0) end
    if h.slot_allow ~= 0 then
        local last, last_rest = h.slot, h.slot_rest
        if h.slot_allow ~= rate.allow then last, last_rest = up(last, last_rest), 0 end
        t, rest = later_slot(t, rest, slot_after(last, last_rest, h.slot_cost, rate))
    end
    local due = up(slot_after(t, rest, s.rank, rate))
    local opens, room = 0, true
    if brought then
        local ahead = due_ahead(t, rest, s, rate)
        room = ahead < rate.allow
        local oldest = room and start_back(rate.allow - ahead)
        if oldest then opens = oldest + rate.period end
    end
    local not_before = max(opens, h.last_start)
    local at = max(now, up(t, rest), not_before)
    if not paused and room and due <= now + rate.grant and s.rank < RANKED and at <= now + rate.grant then
        return {starts = true, t = t, rest = rest, at = at, possible = at}
    end
    local again = max(due, not_before) - rate.grant
    if again <= now and not paused then again = now + max(1000, floor(min(rate.grant, rate.q) / 2)) end
    return {possible = max(now, due, not_before, h.paused_until), again = max(again, h.paused_until)}
end

-- Questions --------

local START, WAIT, NO_LIMIT, CONFLICT = 0, 1, 2, 3
local RATE, PAUSED, LINE_AHEAD = 0, 1, 2

-- The rate a question is judged by, or why there is none.
local function effective_rate(brought, registered, pause_only, override)
    if registered and not brought then return registered end
    if not brought then return nil, not pause_only and NO_LIMIT or nil end
    if not registered or override then return brought end
    if registered.period ~= brought.period then return nil, CONFLICT end
    local allow = min(brought.allow, registered.allow)
    return make_rate(allow, brought.period, min(brought.burst, registered.burst, allow))
end

local function find_recent(id)
    if not existed then return nil end
    local ring = call('GETRANGE', RECENT, 0, -1)
    local from = 1
    while true do
        local at = string.find(ring, id, from, true)
        if not at then return nil end
        if (at - 1) % RECENT_BYTES == 0 and at + RECENT_BYTES - 1 <= #ring then
            return lengthen(struct.unpack('<I6', ring, at + 8), h.last_start)
        end
        from = at + 1
    end
end

local function take_start(q, j, brought)
    local rate = brought or PAUSE_ONLY_PACE
    begin_anew()
    if q.own then remove_ticket(q.place, q.own) end
    h.slot, h.slot_rest, h.slot_allow, h.slot_cost = j.t, j.rest, rate.allow, 1
    if brought then add_to_log(j.at, rate) end
    h.last_start = j.at
    if h.recent_total == 0 then without_expiry[#without_expiry + 1] = RECENT end
    call('SETRANGE', RECENT, RECENT_BYTES * (h.recent_total % RECENT_STARTS),
        q.id .. struct.pack('<I6', shorten(j.at)))
    h.recent_total = h.recent_total + 1
    h.starts_until = max(h.starts_until, j.at + rate.period)
end

local function take_place(q, s, j, pace)
    begin_anew()
    local t = q.own or {since = now, who = string.sub(q.who, 1, 160)}
    local before = q.own and q.own.place
    t.place, t.number, t.caller, t.keep, t.told = IN_LINE, s.number, q.caller, q.keep, j.again
    if not q.own then h.numbers = h.numbers + 1 end
    if q.caller == 0 or h.paused_until == FOREVER then
        local check = min(60000000, max(q.come_back, (s.others + 1) * 10000, floor(pace.q / 4)))
        t.told = min(t.told, now + floor(check * (16 + s.number % 17) / 32))
    end
    put_ticket(q.place, t, before)
    return t.told
end

local function set_last_rate(rate)
    h.last_allow = rate and rate.allow or 0
    h.last_period = rate and rate.period or 0
    h.last_burst = rate and rate.burst or 0
end

local function answer_of(a)
    local reply = {'ok', a.kind, a.wait, a.earliest, a.why, a.ahead, a.number, a.waited, h.birth,
        max(0, h.paused_until - now), h.paused_until > now and h.paused_by_hand ~= 0 and 1 or 0}
    for _, which in ipairs({'rate', 'registered', 'other'}) do
        local rate = a[which] or {allow = 0, period = 0, burst = 0}
        reply[#reply + 1] = rate.allow
        reply[#reply + 1] = rate.period
        reply[#reply + 1] = rate.burst
    end
    return reply
end

local function ask(q)
    local registered = registered_rate()
    local rate, refusal = effective_rate(q.rate, registered, q.pause_only, q.override)
    local a = {kind = WAIT, wait = 0, earliest = 0, why = RATE, ahead = 0, number = 0, waited = 0,
        rate = rate, registered = registered}
    if refusal then
        a.kind = refusal
        return a
    end
    local last = make_rate(h.last_allow, h.last_period, h.last_burst)
    if rate and last and not same(rate, last) then a.other = last end
    local earlier = not q.fresh and find_recent(q.id)
    if earlier then
        a.kind, a.wait = START, max(0, earlier - now)
        a.earliest = a.wait
        return a
    end
    q.own = get_ticket(q.place)
    local s = standing_of(q.own)
    local j = judge(s, rate)
    a.ahead = s.rank
    a.number = q.own and q.own.number or 0
    a.waited = q.own and now - q.own.since or 0
    a.why = now < h.paused_until and PAUSED or s.rank > 0 and LINE_AHEAD or RATE
    a.earliest = j.possible - now
    a.kind = j.starts and START or WAIT
    local told = j.starts and j.at or j.again
    if j.starts and q.taking ~= 2 then
        take_start(q, j, rate)
        set_last_rate(rate)
    elseif not j.starts and q.taking == 0 then
        told = take_place(q, s, j, rate or PAUSE_ONLY_PACE)
        a.number = s.number
        set_last_rate(rate)
    end
    a.wait = told - now
    return a
end

-- The ops --------

local ops = {}

function ops.ask()
    local q = {id = ARGV[4], place = ARGV[5], fresh = ARGV[6] == '1', pause_only = ARGV[10] == '1',
        override = ARGV[11] == '1', caller = tonumber(ARGV[12]), keep = tonumber(ARGV[13]),
        taking = tonumber(ARGV[14]), come_back = tonumber(ARGV[15]), who = ARGV[16]}
    if ARGV[7] ~= '0' then q.rate = make_rate(tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])) end
    local a = ask(q)
    save()
    return answer_of(a)
end

function ops.cancel()
    local t = get_ticket(ARGV[4])
    if t then remove_ticket(ARGV[4], t) end
    save()
    return {'ok', t and 1 or 0}
end

-- Left of the pause, for ever, whether this call moved its end; so does resume.
function ops.pause()
    local until_us = ARGV[4] == '' and FOREVER or now + tonumber(ARGV[4])
    local longer = until_us > h.paused_until
    if longer then
        begin_anew()
        h.paused_until, h.paused_by_hand = until_us, tonumber(ARGV[5])
        if ARGV[6] == '' then
            call('UNLINK', NOTE)
        elseif until_us == FOREVER then
            call('SET', NOTE, ARGV[6])
        else
            call('SET', NOTE, ARGV[6], 'PX', text(NOTE_KEPT_MS + math.ceil((until_us - now) / 1000)))
        end
    end
    save()
    return {'ok', h.paused_until - now, h.paused_until == FOREVER and 1 or 0, longer and 1 or 0}
end

function ops.resume()
    local paused = h.paused_until > now
    if paused then
        h.paused_until = now
        call('PEXPIRE', NOTE, text(NOTE_KEPT_MS))
    end
    save()
    return {'ok', 0, 0, paused and 1 or 0}
end

-- Whether it was dropped: not while there are tickets in line, unless forced.
function ops.forget()
    if h.in_line > 0 and ARGV[4] ~= '1' then
        save()
        return {'ok', 0}
    end
    call('UNLINK', STATE, RECENT, TICKETS, LINE, DUE, NOTE)
    return {'ok', 1}
end

if ARGV[2] ~= '0' and redis.pcall('SELECT', ARGV[2]).err then return {'no database'} end

if ARGV[1] == 'register' then -- gives what was registered before
    local before = call('GET', REGISTERED) or ''
    if ARGV[4] == '' then call('UNLINK', REGISTERED) else call('SET', REGISTERED, ARGV[4]) end
    return {'ok', before}
end

local store_now = tonumber(ARGV[3])
if not store_now then
    local time = call('TIME')
    store_now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local problem = open(store_now)
if problem then return {problem} end
return ops[ARGV[1]]()
