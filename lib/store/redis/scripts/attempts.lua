-- SPDX-License-Identifier: MIT
-- Attempts under way: what lib/core/attempts.cpp does --------

local CALLER_KEEP = 120000000
local HELD, RETAKEN, LOST, UNKNOWN = 0, 1, 2, 3

-- The slot after a charge: the next one is not beyond the window of the start.
local function charged(row, at, by, rate)
    local t, rest = slot_after(row.slot, row.slot_rest, by, rate)
    local last, last_rest = slot_moved_back(at + rate.period, 0, row.slot_cost, rate)
    last, last_rest = later_slot(last, last_rest, row.slot, row.slot_rest)
    if last < t or last == t and last_rest < rest then return last, last_rest end
    return t, rest
end

-- The start at this time counts as so many more, or fewer, in the windows and in the spacing of slots.
local function change_cost(at, by)
    change_logs(at, by)
    for _, row in ipairs(h.rows) do
        local rate = row.slot_allow ~= 0 and last_rate_of(row)
        if rate and rate.allow == row.slot_allow then
            if by > 0 then
                row.slot, row.slot_rest = charged(row, at, by, rate)
            else
                row.slot, row.slot_rest = slot_moved_back(row.slot, row.slot_rest, -by, rate)
            end
        end
    end
    if by < 0 then K.room = true end
end

local function has_room(l)
    return l.place == 0 or h.last_concurrency == 0 or h.places < h.last_concurrency
end

-- The state that the lease was taken in is gone: its holder takes a place as everybody, but out of line.
local function take_anew(id, lock_for, concurrency, birth, who)
    if concurrency == 0 or h.birth == birth then return UNKNOWN end
    local most = h.last_concurrency > 0 and h.last_concurrency or concurrency
    if h.places >= most then return LOST end
    begin_anew()
    put_lease(id, {held = 1, place = 1, open = 0, cost = 1, at = now, until_us = now + lock_for, length = lock_for,
        who = who})
    h.last_concurrency = most
    return RETAKEN
end

-- State and for how long it was lost.
local function renew(id, lock_for, concurrency, birth, who)
    local before = get_lease(id)
    if not before then return take_anew(id, lock_for, concurrency, birth, who), 0 end
    local l, state, lost_for = copy(before), HELD, 0
    if before.held == 0 then
        lost_for = now - before.until_us
        l.held = has_room(before) and 1 or 0
        state = l.held == 1 and RETAKEN or LOST
    end
    if l.held == 1 then
        if lock_for > 0 then l.length = lock_for end
        l.until_us = now + l.length
        put_lease(id, l, before)
    end
    return state, lost_for
end

local function release(id, gives_back)
    local l = get_lease(id)
    if not l then return UNKNOWN, 0 end
    remove_lease(id, l)
    if gives_back and l.cost > 0 then change_cost(l.at, -l.cost) end
    if l.held == 1 then return HELD, 0 end
    return LOST, now - l.until_us
end

-- Nobody here sees whether a holder lives: of the dead only those that ran out are known. Gives those that were
-- held, as they are in the hash.
local function release_leases(only_dead)
    local released = {}
    for _, field in ipairs(K.existed and call('ZRANGE', K.leases, 0, -1) or {}) do
        local id = sub(field, 2)
        local l = get_lease(id)
        if l and not (only_dead and l.held == 1) then
            remove_lease(id, l)
            if l.held == 1 then
                released[#released + 1] = field
                released[#released + 1] = lease_bytes(l)
            end
        end
    end
    return released
end

-- State and what it counted as before.
local function settle(id, cost)
    local before = get_lease(id)
    if not before then return UNKNOWN, 0 end
    local by = cost - before.cost
    if by ~= 0 then
        change_cost(before.at, by)
        local l = copy(before)
        l.cost = cost
        put_lease(id, l, before)
    end
    return before.held == 1 and HELD or LOST, before.cost
end

-- `given`: id and cost of the start, and place, number, waited and who of the ticket that it had.
local function give_back(given)
    local at = find_recent(given.id)
    if not at then return false end
    change_cost(at, -given.cost)
    drop_recent(given.id)
    local l = get_lease(given.id)
    if l then remove_lease(given.id, l) end
    if given.number > 0 and given.number <= h.numbers and not get_ticket(given.place) then
        put_ticket(given.place, {place = AWAY, caller = 1, wake = 0, offered = 0, number = given.number, told = now,
            keep = CALLER_KEEP, cost = given.cost, since = now - given.waited, who = given.who})
    end
    return true
end
