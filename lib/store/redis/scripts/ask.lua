-- SPDX-License-Identifier: MIT
-- Questions: what lib/core/asking.cpp and deciding.cpp do --------

local asking_of, decide_together, finish

do
    local START, WAIT, NO_LIMIT, CONFLICT, TOO_COSTLY, NESTED, CROWDED = 0, 1, 2, 3, 4, 5, 6
    local RATE, PAUSED, LINE_AHEAD, LEASE_HELD = 0, 1, 2, 3
    local LONGEST_CHECK, CHECK_PER_TICKET, CONCURRENCY_RETRY, WATCH = 60000000, 10000, 2000000, 350000
    local SHORTEST_DEPARTURE, SHORTEST_LEASE_RETRY = 2000, 5000
    local LATE, LONGEST_AWAY, ALL_WAKES = 100000, 3600000000, 2 ^ WAKES - 1
    local TAKE_PLACE, TAKE_NOTHING = 0, 2

    local function come_back_in(come_back, in_line, number, spacing)
        local check = min(LONGEST_CHECK, max(come_back, in_line * CHECK_PER_TICKET, floor(spacing / 4)))
        return floor(check * (16 + number % 17) / 32)
    end

    -- What a question is judged by, or why there is nothing.
    local function effective_terms(brought, registered, pause_only, override)
        if are_empty(brought) then
            if registered then return registered end
            return brought, not pause_only and NO_LIMIT or nil
        end
        if not registered or override then return brought end
        local both = strictest(brought, registered)
        if not both then return make_terms({}, 0), CONFLICT end
        return both
    end

    local function as_windows(terms)
        local given = {}
        for i, rate in ipairs(terms.given) do given[i] = with_bursts(rate, rate.allow, rate.allow) end
        return make_terms(given, terms.concurrency)
    end

    -- Why the question is refused, if it is.
    local function refusal_of(a, q)
        local refusal
        a.terms, refusal = effective_terms(q.terms, a.registered, q.pause_only, q.override)
        if q.count_successes then a.terms = as_windows(a.terms) end
        if refusal then return refusal end
        for _, rate in ipairs(a.terms.rates) do
            if q.cost > (rate.burst > 1 and rate.burst or rate.allow) then refusal = TOO_COSTLY end
        end
        for i = 1, #q.ancestors, 8 do
            local l = get_lease(sub(q.ancestors, i, i + 7))
            if l and l.held == 1 and l.place == 1 then refusal = NESTED end
        end
        return refusal
    end

    local function cause_of(a)
        if is_paused() then return PAUSED end
        if a.j.waits_for_lease then return LEASE_HELD end
        return a.s.rank > 0 and LINE_AHEAD or RATE
    end

    local function look(a, q)
        if not are_empty(a.terms) and not are_last(a.terms) then
            local last = last_terms()
            if not are_empty(last) then a.other = last end
        end
        local earlier = not q.fresh and find_recent(q.id)
        if earlier then
            a.repeated, a.start_at = true, max(now, earlier)
            return
        end
        a.own = get_ticket(q.place)
        a.s = standing_of(a.own, q.cost)
        a.j = judge(a.s, a.terms, q.count_successes)
        a.start_at = a.j.at
        a.ahead, a.number, a.waited = a.s.rank, a.own and a.own.number or 0, a.own and now - a.own.since or 0
        a.why, a.earliest = cause_of(a), a.j.possible - now
    end

    -- The key in work, asked this: looked at, nothing changed but what is over.
    function asking_of(q)
        local a = {K = K, q = q, kind = WAIT, wait = 0, earliest = 0, why = RATE, ahead = 0, number = 0, waited = 0,
            leased = 0, wake = 0, birth = h.birth, paused_for = max(0, h.paused_until - now),
            by_hand = is_paused() and h.paused_by_hand ~= 0 and 1 or 0, registered = registered_terms(),
            s = {number = 0, others = 0, rank = 0, cost = 1}, j = {possible = 0, again = 0}}
        local refusal = refusal_of(a, q)
        if refusal then a.kind, a.refused = refusal, true else look(a, q) end
        return a
    end

    local function starts(a) return a.repeated or a.j.starts end

    -- How fast places become free.
    local function departures_apart(a)
        local apart, places = h.departure, a.terms.concurrency
        if h.places < places then apart = floor(apart * (h.places + 1) / (places + 1)) end
        local passed = min(now - h.last_departure, LONGEST_DEPARTURE)
        local part = h.departure == 0 and max(1, h.places) or 4
        return max(SHORTEST_DEPARTURE, apart, floor(passed / part))
    end

    local function lease_retry(a)
        local s = a.s
        if a.q.caller == 1 then return CONCURRENCY_RETRY end
        local check = come_back_in(min(a.q.come_back, CONCURRENCY_RETRY), s.others + 1, s.number, 0)
        local function turn(places)
            return min(check, max(SHORTEST_LEASE_RETRY, floor(places * departures_apart(a) / 2)))
        end
        local has_wake = a.own and a.own.wake ~= 0 or h.wakes ~= ALL_WAKES
        if s.rank < WAKES and not has_wake then return turn(s.rank + 1) end
        if s.rank == 0 then
            local runs_out = h.next_lease + 1 - now
            return runs_out > 0 and min(check, max(runs_out, SHORTEST_LEASE_RETRY)) or check
        end
        if s.rank < WAKES then return min(check, WATCH * s.rank) end
        local places = a.terms.concurrency
        return min(s.rank < places and places * CHECK_PER_TICKET or check, turn(s.rank - WAKES + 1))
    end

    -- When it is worth asking again, this key alone considered.
    local function again_in(a)
        if starts(a) then return 0 end
        if not a.j.waits_for_lease then return a.j.again - now end
        local retry, rates = lease_retry(a), a.j.rates - now
        if rates <= 0 then return retry end
        return a.q.count_successes and min(rates, retry) or max(rates, retry)
    end

    local function check_in(a)
        local pace = a.terms.rates[1] or PAUSE_ONLY_PACE
        return come_back_in(a.q.come_back, a.s.others + 1, a.s.number, pace.q)
    end

    local function is_crowded(a)
        return a.q.max_waiting and not a.own and not starts(a) and a.s.others >= a.q.max_waiting
    end

    local function take_slot(row, slot, rate, cost)
        row.slot, row.slot_rest, row.slot_allow, row.slot_cost = slot[1], slot[2], rate.allow, cost
    end

    local function take_start(a, wait)
        local q, rates, at = a.q, a.terms.rates, now + wait
        a.kind, a.wait, a.earliest = START, wait, wait
        if a.repeated then
            local l = get_lease(q.id)
            a.leased = l and l.held or 0
            return
        end
        begin_anew()
        if a.own then remove_ticket(q.place, a.own) end
        local longest = #rates == 0 and PAUSE_ONLY_PACE.period or 0
        for i, rate in ipairs(rates) do
            take_slot(h.rows[i], a.j.slots[i], rate, q.cost)
            longest = max(longest, rate.period)
        end
        if #rates == 0 then
            take_slot(h.rows[1], a.j.slots[1], PAUSE_ONLY_PACE, 1)
        else
            add_to_logs(at, q.cost, rates)
        end
        h.last_start = at
        put_recent(q.id, at)
        h.recent_total = h.recent_total + 1
        h.starts_until = max(h.starts_until, at + longest)
        set_last_terms(a.terms)
        if a.terms.concurrency == 0 and not q.count_successes and not q.settles then return end
        local before = not q.fresh and get_lease(q.id) or nil
        put_lease(q.id, {held = 1, place = a.terms.concurrency > 0 and 1 or 0, open = q.count_successes and 1 or 0,
            cost = q.cost, at = at, until_us = at + q.lock_for, length = q.lock_for, who = q.who}, before)
        a.leased = 1
    end

    local function tell(a, kind, wait)
        a.kind, a.wait = kind, wait
        if kind == START then a.earliest = wait end
    end

    -- `away`: another key holds the job up for so long.
    local function take_place(a, told, away)
        if a.repeated then return tell(a, WAIT, told) end
        local q, s = a.q, a.s
        begin_anew()
        local t = a.own and copy(a.own) or {since = now, who = q.who, wake = 0}
        t.place, t.number, t.cost, t.offered = away and AWAY or IN_LINE, s.number, q.cost, 0
        t.caller = (away or q.hold or q.caller == 1) and 1 or 0
        t.keep = (away or q.hold) and max(q.keep, CALLER_KEEP) or q.keep
        t.told = now + (away and min(away, LONGEST_AWAY) or told)
        if not a.own then h.numbers = h.numbers + 1 end
        if is_paused() then h.paced_number = max(h.paced_number, t.number) end
        local listens = a.j.waits_for_lease and not away and q.caller == 0 and s.rank < WAKES
        if not listens then t.wake = 0 end
        if listens and t.wake == 0 then t.wake = free_wake() end
        a.wake = t.wake
        put_ticket(q.place, t, a.own)
        set_last_terms(a.terms)
        a.kind, a.wait, a.number = WAIT, told, t.number
    end

    -- Another key of the job has to agree first.
    local function hold(a)
        local wait = a.start_at - now
        local back = max(wait, check_in(a))
        take_place(a, back, back)
        tell(a, START, wait)
    end

    -- All keys of a job --------

    -- How long until every key lets it start; nothing where that is too far for one of them to grant.
    local function common_start(asked)
        local wait = 0
        for _, a in ipairs(asked) do
            if not starts(a) then return nil end
            wait = max(wait, a.start_at - a.K.now)
        end
        for _, a in ipairs(asked) do
            if not a.repeated and wait > a.j.grant then return nil end
        end
        return wait
    end

    local function start_all(asked, wait)
        for _, a in ipairs(asked) do
            enter(a.K)
            if a.q.taking == TAKE_NOTHING then
                tell(a, START, wait)
            else
                take_start(a, a.repeated and a.start_at - now or wait)
            end
        end
    end

    local function line_up(asked, again)
        local crowded = false
        for _, a in ipairs(asked) do crowded = crowded or is_crowded(a) end
        if crowded then
            for _, a in ipairs(asked) do tell(a, is_crowded(a) and CROWDED or WAIT, again) end
            return
        end
        local told = again
        for _, a in ipairs(asked) do
            enter(a.K)
            a.is_away = #asked > 1 and (starts(a) or a.again + LATE < again)
            local looks = asked[1].q.caller == 0 or h.paused_until == FOREVER
            if not a.is_away and looks then told = min(told, check_in(a)) end
        end
        for _, a in ipairs(asked) do
            enter(a.K)
            take_place(a, told, a.is_away and again)
        end
    end

    function decide_together(asked)
        for _, a in ipairs(asked) do
            if a.refused then return end
        end
        local first = asked[1]
        if first.q.hold and starts(first) and not first.repeated then
            enter(first.K)
            return hold(first)
        end
        local wait = common_start(asked)
        if wait then return start_all(asked, wait) end
        local again, grant = #asked > 1 and SHORTEST_RETRY or 0, LATE
        for _, a in ipairs(asked) do
            if starts(a) and not a.repeated then grant = min(grant, a.j.grant) end
        end
        for _, a in ipairs(asked) do
            enter(a.K)
            a.again = again_in(a)
            again = max(again, starts(a) and a.start_at - now - grant or a.again)
        end
        if asked[1].q.taking == TAKE_PLACE then return line_up(asked, again) end
        for _, a in ipairs(asked) do tell(a, WAIT, again) end
    end

    local function add_terms(reply, terms)
        reply[#reply + 1] = terms and terms.concurrency or 0
        reply[#reply + 1] = terms and #terms.given or -1
        for _, rate in ipairs(terms and terms.given or {}) do
            for _, name in ipairs({'allow', 'period', 'burst', 'window'}) do reply[#reply + 1] = rate[name] end
        end
    end

    -- Writes the key back, too.
    function finish(a)
        enter(a.K)
        local reply = {a.kind, a.wait, a.earliest, a.why, a.ahead, a.number, a.waited, a.birth, a.paused_for, a.by_hand,
            a.leased, a.wake, h.places, h.in_line}
        add_terms(reply, a.terms)
        add_terms(reply, a.registered)
        add_terms(reply, a.other)
        save()
        return reply
    end
end
