-- SPDX-License-Identifier: MIT
-- Rates, terms and slots: what lib/core/rate.cpp, terms.cpp, registration.cpp and slots.cpp do --------

local EXACT_SLOTS = 256

local function make_rate(allow, period, burst, window)
    if period < 1000 or period > 366 * 86400 * 1000000 then return nil end
    if allow < 1 or allow > period or burst < 1 or burst > allow or window < 1 or window > allow then return nil end
    local q = floor(period / allow)
    return {allow = allow, period = period, burst = burst, window = window, q = q, m = period - q * allow,
        grant = min(period, 100000)}
end

local PAUSE_ONLY_PACE = make_rate(10, 1000000, 1, 10)

local function paces_before(a, b)
    if a.q ~= b.q then return a.q < b.q end
    local part_a, part_b = a.m / a.allow, b.m / b.allow
    if part_a ~= part_b then return part_a < part_b end
    return a.period < b.period
end

local function with_bursts(rate, burst, window)
    return make_rate(rate.allow, rate.period, burst, window)
end

-- `concurrency` 0: none. Nothing where these rates are no terms; `given` is sorted.
local function make_terms(given, concurrency)
    if #given > ROWS then return nil end
    for i = 2, #given do
        for j = i, 2, -1 do
            if not paces_before(given[j], given[j - 1]) then break end
            given[j], given[j - 1] = given[j - 1], given[j]
        end
    end
    local rates = {given[1]}
    for i = 2, #given do
        for j = 1, i - 1 do
            if given[i].period == given[j].period then return nil end
        end
        rates[i] = with_bursts(given[i], given[i].window, given[i].window)
    end
    return {given = given, rates = rates, concurrency = concurrency}
end

local function are_empty(terms) return #terms.rates == 0 and terms.concurrency == 0 end

-- Whether the last question was judged by these.
local function are_last(terms)
    if h.last_concurrency ~= terms.concurrency then return false end
    for i = 1, ROWS do
        local rate, row = terms.rates[i], h.rows[i]
        local allow, period, burst = 0, 0, 0
        if rate then allow, period, burst = rate.allow, rate.period, rate.burst end
        if row.last_allow ~= allow or row.last_period ~= period or row.last_burst ~= burst then return false end
    end
    return true
end

local function strictest(a, b)
    local given = {}
    for i, rate in ipairs(a.given) do given[i] = rate end
    for _, other in ipairs(b.given) do
        local place = #given + 1
        for i, rate in ipairs(given) do
            if rate.period == other.period then place = i end
        end
        local rate = given[place]
        if rate then
            local allow = min(rate.allow, other.allow)
            other = make_rate(allow, rate.period, min(rate.burst, other.burst, allow),
                min(rate.window, other.window, allow))
        end
        given[place] = other
    end
    local concurrency = max(a.concurrency, b.concurrency)
    if a.concurrency > 0 and b.concurrency > 0 then concurrency = min(a.concurrency, b.concurrency) end
    return make_terms(given, concurrency)
end

local function last_rate_of(row)
    return row.last_allow ~= 0 and make_rate(row.last_allow, row.last_period, row.last_burst, row.last_burst)
end

local function last_terms()
    local given = {}
    for _, row in ipairs(h.rows) do
        local rate = last_rate_of(row)
        if rate then given[#given + 1] = rate end
    end
    return make_terms(given, h.last_concurrency) or make_terms({}, 0)
end

local function set_last_terms(terms)
    for i, r in ipairs(h.rows) do
        local rate = terms.rates[i]
        r.last_allow = rate and rate.allow or 0
        r.last_period = rate and rate.period or 0
        r.last_burst = rate and rate.burst or 0
    end
    if terms.concurrency > 0 or h.places == 0 then h.last_concurrency = terms.concurrency end
end

-- What is registered: see core/registration.hpp. Nothing where that is no registration.
local function registered_terms()
    local bytes = call('GET', K.registered)
    if not bytes then return nil end
    local numbers, at = {}, 1
    local function take_number()
        local digits, after = string.match(bytes, '^(%d+) ()', at)
        if not digits or #digits > 18 then return nil end
        at = after
        return tonumber(digits)
    end
    for i = 1, 3 do
        numbers[i] = take_number()
        if not numbers[i] then return nil end
    end
    local given = {}
    for i = 1, min(numbers[3], ROWS + 1) do
        local allow, period, burst, window = take_number(), take_number(), take_number(), take_number()
        given[i] = window and make_rate(allow, period, burst, window)
        if not given[i] then return nil end
    end
    if numbers[2] > 1000000 then return nil end
    local terms = make_terms(given, numbers[2])
    return terms and not are_empty(terms) and terms or nil
end

-- Slots: a time and a rest in allow-ths of a microsecond --------

local function up(t, rest) return rest > 0 and t + 1 or t end

local function is_exact(count, rate)
    return count <= EXACT_SLOTS or count * rate.q <= FAR and count * rate.m <= FAR
end

local function slot_after(t, rest, count, rate)
    if not is_exact(count, rate) then
        local far = min(count * (rate.q + (rate.m > 0 and 1 or 0)), FAR)
        return min(up(t, rest) + floor(far), FOREVER), 0
    end
    local over = rest + count * rate.m
    local whole = floor(over / rate.allow)
    local time = t + count * rate.q + whole
    if time >= FOREVER then return FOREVER, 0 end
    return time, over - whole * rate.allow
end

local function slot_before(at, count, rate)
    if count > EXACT_SLOTS then
        return at - count * rate.q - floor(count * rate.m / rate.allow), 0
    end
    local over = count * rate.m
    local whole = floor((over + rate.allow - 1) / rate.allow)
    return at - count * rate.q - whole, whole * rate.allow - over
end

local function slot_moved_back(t, rest, count, rate)
    if not is_exact(count, rate) then return up(t, rest) - floor(min(count * rate.q, FAR)), 0 end
    local over = count * rate.m - rest
    if over <= 0 then return t - count * rate.q, -over end
    local whole = floor((over + rate.allow - 1) / rate.allow)
    return t - count * rate.q - whole, whole * rate.allow - over
end

local function later_slot(t1, r1, t2, r2)
    if t1 < t2 or t1 == t2 and r1 < r2 then return t2, r2 end
    return t1, r1
end
