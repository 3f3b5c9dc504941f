-- SPDX-License-Identifier: MIT
-- One decision on one key, or on all keys of a job: what lib/core does (asking.cpp, deciding.cpp, attempts.cpp,
-- decide.cpp), to the same bytes; tests/contract/lua_compare_test.cpp holds the two equal. The last part of the
-- script that records.lua begins.
--
-- ARGV  op, database, clock in us (empty: TIME), then by op
--   ask             come back, then for each key: start id, place id (8 bytes each), fresh, pause only, override,
--                   cost, count successes, settles, lock for, max waiting (empty: no matter), ancestors (8 bytes
--                   each), hold, caller, keep, taking (0 place, 1 start, 2 nothing), who, concurrency (0: none),
--                   how many rates, and of each rate allow, period, burst, window burst
--   cancel          place id
--   renew           lease id, lock for (0: as before), concurrency (0: take no place anew), birth of the state, who
--   release         lease id, give back
--   release_leases  only dead
--   settle          lease id, cost
--   give_back       start id, cost, place id, number of its ticket (0: it had none), waited, who
--   pause           length (empty: for ever), by hand, note
--   resume
--   forget          force
--   register        the registration (empty: none)
-- Times are in us, flags 0 or 1. Reply 'ok' and what the op says, integers but for register and leases; or
-- 'foreign' or 'newer' and which of the keys, or 'no database'.

local NOTE_KEPT_MS = 7 * 86400 * 1000
local ops = {}

-- The question at this place of ARGV, and the place after it.
local function question_at(at)
    local q = {id = ARGV[at], place = ARGV[at + 1], fresh = ARGV[at + 2] == '1', pause_only = ARGV[at + 3] == '1',
        override = ARGV[at + 4] == '1', cost = tonumber(ARGV[at + 5]), count_successes = ARGV[at + 6] == '1',
        settles = ARGV[at + 7] == '1', lock_for = tonumber(ARGV[at + 8]), max_waiting = tonumber(ARGV[at + 9]),
        ancestors = ARGV[at + 10], hold = ARGV[at + 11] == '1', caller = tonumber(ARGV[at + 12]),
        keep = tonumber(ARGV[at + 13]), taking = tonumber(ARGV[at + 14]), who = ARGV[at + 15],
        come_back = tonumber(ARGV[4])}
    local concurrency, rates = tonumber(ARGV[at + 16]), tonumber(ARGV[at + 17])
    local given = {}
    at = at + 18
    for i = 1, rates do
        given[i] = make_rate(tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]),
            tonumber(ARGV[at + 3]))
        at = at + 4
    end
    q.terms = make_terms(given, concurrency)
    return q, at
end

function ops.ask(keys, store_now)
    local asked, at = {}, 5
    for i, key in ipairs(keys) do
        enter(key)
        open(store_now)
        local q
        q, at = question_at(at)
        asked[i] = asking_of(q)
    end
    decide_together(asked)
    local reply = {'ok'}
    for i, a in ipairs(asked) do reply[i + 1] = finish(a) end
    return reply
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
        h.paused_until, h.paused_by_hand, h.paced_number = until_us, tonumber(ARGV[5]), h.numbers
        if ARGV[6] == '' then
            call('UNLINK', K.note)
        elseif until_us == FOREVER then
            call('SET', K.note, ARGV[6])
        else
            call('SET', K.note, ARGV[6], 'PX', text(NOTE_KEPT_MS + math.ceil((until_us - now) / 1000)))
        end
    end
    save()
    return {'ok', h.paused_until - now, h.paused_until == FOREVER and 1 or 0, longer and 1 or 0}
end

function ops.resume()
    local paused = is_paused()
    if paused then
        h.paused_until = now
        K.room = true
        call('PEXPIRE', K.note, text(NOTE_KEPT_MS))
    end
    save()
    return {'ok', 0, 0, paused and 1 or 0}
end

-- Whether it was dropped: not while there are tickets in line or leases held, unless forced.
function ops.forget()
    if h.in_line + h.held > 0 and ARGV[4] ~= '1' then
        save()
        return {'ok', 0}
    end
    clear()
    call('UNLINK', K.note)
    return {'ok', 1}
end

-- The others work on one key that is open.
local function op_on_lease(work)
    local state, number = work(ARGV[4], ARGV[5])
    save()
    return {'ok', state, number}
end

function ops.renew()
    return op_on_lease(function(id, lock_for)
        return renew(id, tonumber(lock_for), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8])
    end)
end

function ops.release() return op_on_lease(function(id, gives_back) return release(id, gives_back == '1') end) end

function ops.settle() return op_on_lease(function(id, cost) return settle(id, tonumber(cost)) end) end

function ops.release_leases()
    local released = release_leases(ARGV[4] == '1')
    save()
    return {'ok', now, released}
end

function ops.give_back()
    local there = give_back({id = ARGV[4], cost = tonumber(ARGV[5]), place = ARGV[6], number = tonumber(ARGV[7]),
        waited = tonumber(ARGV[8]), who = ARGV[9]})
    save()
    return {'ok', there and 1 or 0}
end

if ARGV[2] ~= '0' and redis.pcall('SELECT', ARGV[2]).err then return {'no database'} end

if ARGV[1] == 'register' then -- gives what was registered before
    local registered = key_at(1).registered
    local before = call('GET', registered) or ''
    if ARGV[4] == '' then call('UNLINK', registered) else call('SET', registered, ARGV[4]) end
    return {'ok', before}
end

local store_now = tonumber(ARGV[3])
if not store_now then
    local time = call('TIME')
    store_now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- All are looked at before any is changed.
local keys = {}
for i = 1, #KEYS / RECORDS_OF_A_KEY do
    keys[i] = key_at(i)
    enter(keys[i])
    local problem = load()
    if problem then return {problem, i} end
end
if ARGV[1] ~= 'ask' then open(store_now) end
return ops[ARGV[1]](keys, store_now)
