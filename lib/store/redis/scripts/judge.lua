-- SPDX-License-Identifier: MIT
-- The judgement of one question: what lib/core/judgement.cpp does --------

local RANKED, ROOM_KEPT_FOR, LATE_SLOTS, SHORTEST_RETRY = 64, 16, 2, 1000

local function grant_of(terms)
    local grant = PAUSE_ONLY_PACE.grant
    for _, rate in ipairs(terms.rates) do grant = min(grant, rate.grant) end
    return grant
end

local function add_costs(s, own_cost)
    local others_cost = h.line_cost - own_cost
    s.costs_ahead = {}
    if others_cost == s.others then
        s.cost_ahead = s.rank
        return
    end
    local head, ids = line_head(min(s.rank, RANKED)), {}
    for i = 1, #head, 2 do ids[#ids + 1] = head[i] end
    local exact = 0
    for i, bytes in ipairs(#ids > 0 and call('HMGET', K.tickets, unpack(ids)) or {}) do
        local cost = bytes and as_ticket(bytes).cost or 1
        if i <= ROOM_KEPT_FOR then s.costs_ahead[i] = cost end
        exact = exact + cost
    end
    s.cost_ahead = exact
    if s.rank <= RANKED then return end
    local mean = max(1, floor((others_cost - exact) / max(1, s.others - RANKED)))
    s.cost_ahead = exact + (s.rank - RANKED) * mean
end

local function standing_of(own, cost)
    local in_line = own and own.place == IN_LINE
    local s = {cost = cost, others = h.in_line - (in_line and 1 or 0)}
    if not own then
        s.number, s.rank = h.numbers + 1, s.others
    else
        s.number, s.rank = own.number, 0
        if s.others > 0 then s.rank = min(call('ZCOUNT', K.line, '-inf', '(' .. text(own.number)), RANKED) end
        if s.rank == RANKED then
            local last = call('ZRANGE', K.line, RANKED - 1, RANKED - 1, 'WITHSCORES')
            s.rank = min(s.others, RANKED + own.number - tonumber(last[2]) - 1)
        end
    end
    add_costs(s, in_line and own.cost or 0)
    return s
end

local function base_of(s, rate, row)
    local t, rest = slot_before(now, min(s.others, LATE_SLOTS) + rate.burst - 1, rate)
    if h.paused_until > 0 then t, rest = later_slot(t, rest, h.paused_until, 0) end
    if row.slot_allow ~= 0 then
        local last, last_rest = row.slot, row.slot_rest
        if row.slot_allow ~= rate.allow then last, last_rest = up(last, last_rest), 0 end
        t, rest = later_slot(t, rest, slot_after(last, last_rest, row.slot_cost, rate))
    end
    return {t, rest}
end

local function due_of(slots, rates, cost_before)
    local due = 0
    for i, rate in ipairs(rates) do due = max(due, up(slot_after(slots[i][1], slots[i][2], cost_before, rate))) end
    return due
end

-- How many of those ahead could start now, and what they cost.
local function due_ahead(s, slots, rates)
    local count, cost, considered = 0, 0, min(s.rank, ROOM_KEPT_FOR)
    while count < considered and due_of(slots, rates, cost) <= now do
        count = count + 1
        cost = cost + (s.costs_ahead[count] or 1)
    end
    return count, cost
end

-- What a caller that is away and has a lower number costs, and when it is to come.
local function caller_before(s)
    if h.away == 0 then return 0, 0 end
    local id, number = lowest_away()
    local t = id and number < s.number and get_ticket(id)
    if t then return t.cost, t.told end
    return 0, 0
end

-- Whether all windows have room for the asker and those ahead, and when.
local function window_of(s, rates, cost_ahead, count_successes)
    local room, opens, fits = true, 0, true
    local caller, told = caller_before(s)
    for _, rate in ipairs(rates) do fits = fits and cost_ahead + caller + s.cost <= rate.allow end
    for _, rate in ipairs(rates) do
        local taken = cost_ahead + s.cost
        if fits and told < now + rate.period then taken = taken + caller end
        if count_successes and h.open > 0 then taken = taken + min(open_since(now - rate.period), rate.allow) end
        if taken > rate.allow then
            room = false
        else
            local oldest = start_back(rate, rate.allow - taken + 1)
            if oldest then opens = max(opens, oldest + rate.period) end
        end
    end
    return room, opens
end

local function is_recovering(s)
    if is_paused() then return true end
    if h.paced_number == 0 then return false end
    if s.number <= min(h.paced_number, h.numbers) then return true end
    if s.others == 0 then return false end
    local head = line_head(1)
    return head[2] ~= nil and tonumber(head[2]) <= h.paced_number
end

local function is_lease_free(terms, ahead)
    if terms.concurrency == 0 then return true end
    local free = terms.concurrency - h.places
    if free <= 0 or ahead < free then return free > 0 end
    local head, awake = line_head(ahead), 0
    for i = 1, #head, 2 do
        local t = get_ticket(head[i])
        if not t or is_awake(t) then awake = awake + 1 end
    end
    return awake < free
end

local function judge(s, terms, count_successes)
    local rates = terms.rates
    local paced = #rates > 0 or is_recovering(s)
    if paced and #rates == 0 then rates = {PAUSE_ONLY_PACE} end
    local slots = {}
    for i, rate in ipairs(rates) do slots[i] = base_of(s, rate, h.rows[i]) end
    local base = paced and due_of(slots, rates, 0) or now
    local due = paced and due_of(slots, rates, s.cost_ahead) or now
    local ahead, ahead_cost = due_ahead(s, slots, rates)
    local room, opens = window_of(s, terms.rates, ahead_cost, count_successes)
    local may_get_room = count_successes and h.open > 0
    local grant, paused = may_get_room and 0 or grant_of(terms), is_paused()
    local not_before = max(opens, h.last_start)
    local at = max(now, base, not_before)
    local could = not paused and due <= now + grant and s.rank < RANKED
    local free = is_lease_free(terms, ahead)
    if could and room and at <= now + grant and free then
        if not paced then slots[1] = {at, 0} end
        return {starts = true, slots = slots, at = at, possible = at, again = at, grant = grant}
    end
    local far = terms.concurrency > 0 and s.rank >= RANKED
    local lease = not paused and
        (may_get_room or base <= now + grant and room and at <= now + grant and (not free or far))
    local again = max(due, not_before) - grant
    local by_rates = again
    if again <= now and not paused then
        again = now + max(SHORTEST_RETRY, floor(min(grant, rates[1] and rates[1].q or grant) / 2))
    end
    return {waits_for_lease = lease, rates = by_rates, possible = max(now, due, not_before, h.paused_until),
        again = max(again, h.paused_until)}
end
