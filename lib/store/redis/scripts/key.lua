-- SPDX-License-Identifier: MIT
-- A key opened at one moment: what lib/core/clocked_key.cpp does, and what only Redis has: expiry, and records
-- that were evicted --------

local MOST_SWEPT, OFFERS_LOOKED_AT, OFFER, WAKES = 16, 16, 500000, 4

local function copy(of)
    local new = {}
    for name, value in pairs(of) do new[name] = value end
    return new
end

local function is_paused() return now < h.paused_until end

-- Tickets --------

local COUNT = {[IN_LINE] = 'in_line', [OUT] = 'out', [AWAY] = 'away'}

local function count_ticket(t, by)
    h[COUNT[t.place]] = h[COUNT[t.place]] + by
    if t.place == IN_LINE then h.line_cost = h.line_cost + by * t.cost end
    if t.wake > 0 then h.wakes = h.wakes + by * 2 ^ (t.wake - 1) end
end

local function put_ticket(id, t, before)
    if t.place ~= IN_LINE then t.wake, t.offered = 0, 0 end
    write_ticket(id, t, before)
    if before then
        count_ticket(before, -1)
        if before.place == IN_LINE and t.place ~= IN_LINE then K.room = true end
    end
    local forgotten = t.told + t.keep
    h.tickets_until = tickets_kept() > 0 and max(h.tickets_until, forgotten) or forgotten
    count_ticket(t, 1)
    h.next_deadline = min(h.next_deadline, deadline(t))
end

local function remove_ticket(id, t)
    K.room = true
    count_ticket(t, -1)
    erase_ticket(id, t)
end

local function free_wake()
    for n = 1, WAKES do
        if floor(h.wakes / 2 ^ (n - 1)) % 2 == 0 then
            silence(n)
            return n
        end
    end
    return 0
end

local function sweep_tickets()
    for _ = 1, MOST_SWEPT do
        if h.next_deadline >= now then return end
        local id, due = unpack(call('ZRANGE', K.due, 0, 0, 'WITHSCORES'))
        h.next_deadline = id and tonumber(due) or FOREVER
        if not id or h.next_deadline >= now then return end
        local t = get_ticket(id)
        if not t then -- nothing of ours
            call('ZREM', K.due, id)
            call('ZREM', K.line, id)
        elseif t.place ~= IN_LINE then
            remove_ticket(id, t)
        else
            local before = copy(t)
            t.place = t.caller == 1 and AWAY or OUT
            put_ticket(id, t, before)
        end
    end
end

-- Leases --------

local LONGEST_DEPARTURE = 2000000

local function count_lease(l, by)
    h.leases = h.leases + by
    if l.held == 0 then return end
    h.held = h.held + by
    h.places = h.places + by * l.place
    h.open = h.open + by * l.open
end

local function note_departure()
    local passed = min(now - h.last_departure, LONGEST_DEPARTURE)
    local held = max(h.places, h.open) + 1
    h.departure = h.departure == 0 and floor(passed / held) or floor((3 * h.departure + passed) / 4)
    h.last_departure = now
end

-- Its end may let another one start.
local function is_waited_for(l) return l ~= nil and l.held == 1 and (l.place == 1 or l.open == 1) end

local function put_lease(id, l, before)
    write_lease(id, l)
    local had, has = is_waited_for(before), is_waited_for(l)
    if before then count_lease(before, -1) end
    if before and before.held == 1 and l.held == 0 then K.room = true end
    if had and not has then note_departure() end
    if has and not had and h.places + h.open == 0 then h.last_departure = now end
    local forgotten = l.until_us + LOST_LEASE_KEPT
    h.leases_until = h.leases > 0 and max(h.leases_until, forgotten) or forgotten
    count_lease(l, 1)
    h.next_lease = min(h.next_lease, lease_deadline(l))
end

local function remove_lease(id, l)
    count_lease(l, -1)
    if l.held == 1 then K.room = true end
    if is_waited_for(l) then note_departure() end
    erase_lease(id, l)
end

local function sweep_leases()
    for _ = 1, MOST_SWEPT do
        if h.next_lease >= now then return end
        local field, due = unpack(call('ZRANGE', K.leases, 0, 0, 'WITHSCORES'))
        h.next_lease = field and tonumber(due) or FOREVER
        if not field or h.next_lease >= now then return end
        local id = sub(field, 2)
        local l = get_lease(id)
        if not l then -- nothing of ours
            call('ZREM', K.leases, field)
        elseif l.held == 0 then
            remove_lease(id, l)
        else
            local before = copy(l)
            l.held = 0
            put_lease(id, l, before)
        end
    end
end

-- Offers --------

-- It will learn at once that it may start, or has a caller's right to be waited for.
local function is_awake(t) return t.wake ~= 0 or t.caller == 1 or t.told <= now end

local function offer(id, before)
    wake(id, before.wake)
    local t = copy(before)
    t.offered, t.told = 1, now + OFFER
    put_ticket(id, t, before)
end

local function offer_places()
    if not K.room or h.wakes == 0 or is_paused() then return end
    local free = h.last_concurrency > 0 and h.last_concurrency - h.places or 1
    free = min(free, WAKES)
    local head = free > 0 and line_head(OFFERS_LOOKED_AT) or {}
    for i = 1, #head, 2 do
        if free <= 0 then return end
        local t = get_ticket(head[i])
        if t and is_awake(t) then
            free = free - 1
            if t.wake ~= 0 and t.offered == 0 then offer(head[i], t) end
        end
    end
end

-- Expiry --------

local function matters_until()
    return max(h.starts_until, h.paused_until, tickets_kept() > 0 and h.tickets_until or 0,
        h.leases > 0 and h.leases_until or 0)
end

local function set_expiry(record)
    if h.idle_until == FOREVER then
        call('PERSIST', record)
    else
        call('PEXPIRE', record, text(math.ceil((h.idle_until - now) / 1000)))
    end
end

-- idle_until is how far the expiry of the records reaches; FOREVER: they have none, in a pause without end. It
-- is set with room ahead, so that most calls need not touch it, and taken back only from much too far.
local function renew_expiry()
    local matters = max(now, matters_until()) -- an expiry that has passed would drop what is being written
    local left = max(matters - now, 60000000)
    local too_far = h.idle_until - matters > left + 1800000000 or h.idle_until == FOREVER and matters < FOREVER
    if matters > h.idle_until or too_far then
        h.idle_until = matters >= FOREVER and FOREVER or matters + 1000000 + floor(left / 2)
        for _, record in ipairs({K.state, K.recent, K.tickets, K.line, K.due, K.leases, K.logs[1], K.logs[2],
            K.logs[3]}) do set_expiry(record) end
    else
        for record in pairs(K.made) do set_expiry(record) end
    end
end

local function save()
    offer_places()
    local bytes, idle_until = header_bytes(), h.idle_until
    if bytes == K.loaded then return end
    if not K.existed then call('SETRANGE', K.state, 0, 'jtk\2' .. sub(ZEROS, 5)) end
    renew_expiry()
    if h.idle_until ~= idle_until then bytes = header_bytes() end
    call('SETRANGE', K.state, 8, bytes .. sub(ZEROS, 1, max(0, #K.loaded - #bytes)))
end

-- Evictions --------

-- A server short of memory may have evicted some of the records. What is in the hash gives the orders; a log
-- begins anew.
local function lay_orders_anew()
    local kept_ones = call('HGETALL', K.tickets)
    call('UNLINK', K.line, K.due, K.leases)
    h.in_line, h.out, h.away, h.line_cost, h.wakes, h.next_deadline = 0, 0, 0, 0, 0, FOREVER
    h.leases, h.held, h.places, h.open, h.next_lease = 0, 0, 0, 0, FOREVER
    for i = 1, #kept_ones, 2 do
        local field, bytes = kept_ones[i], kept_ones[i + 1]
        if #field == 8 and #bytes >= TICKET_BYTES then
            put_ticket(field, as_ticket(bytes))
        elseif #field == 9 and #bytes >= LEASE_BYTES then
            put_lease(sub(field, 2), as_lease(bytes))
        end
    end
end

local function mend()
    local wanted = {}
    local function want(record, is_there) if is_there then wanted[#wanted + 1] = record end end
    want(K.tickets, tickets_kept() + h.leases > 0)
    want(K.due, tickets_kept() > 0)
    want(K.leases, h.leases > 0)
    want(K.line, h.in_line + h.away + h.open > 0)
    local orders = #wanted
    for log = 2, ROWS do want(K.logs[log - 1], h.rows[log].total > 0) end
    if #wanted == 0 or call('EXISTS', unpack(wanted)) == #wanted then return end
    for log = 2, ROWS do
        local r = h.rows[log]
        if r.total > 0 and call('EXISTS', K.logs[log - 1]) == 0 then r.total, r.fill = 0, 0 end
    end
    if orders > 0 and call('EXISTS', unpack(wanted, 1, orders)) < orders then lay_orders_anew() end
end

-- Opening --------

-- What is wrong with the state of the key in work, if anything is.
local function load()
    local bytes = call('GETRANGE', K.state, 0, HEADER_BYTES - 1)
    K.existed = bytes ~= ''
    if not K.existed then return nil end
    if #bytes < HEADER_BYTES or sub(bytes, 1, 3) ~= 'jtk' then return 'foreign' end
    local version = string.byte(bytes, 4)
    if version ~= 2 then return version > 2 and 'newer' or 'foreign' end
    read_header(sub(bytes, 9))
    K.loaded = sub(bytes, 9, 8 + CORE_BYTES + rows_in_use() * ROW_BYTES)
    return nil
end

local function open(store_now)
    if K.existed then h.offset = max(h.offset, h.seen - store_now) else new_header() end
    now = store_now + h.offset
    if K.existed and now > matters_until() then
        clear()
        new_header()
        K.existed, now = false, store_now
    end
    K.now, h.seen = now, now
    if K.existed then
        mend()
    else
        h.birth = now
        K.loaded = header_bytes()
    end
    for log = 2, ROWS do K.log_there[log] = h.rows[log].total > 0 end
    sweep_tickets()
    sweep_leases()
end
