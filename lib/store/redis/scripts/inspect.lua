-- SPDX-License-Identifier: MIT
-- The records of one key as they are; changes nothing.
--
-- KEYS  state recent tickets line due registered note log1 log2 log3 ...
-- ARGV  database, clock in us (empty: TIME)
-- Reply 'ok', the clock in us, the state, the tickets and leases (field, bytes, field, bytes ...), the
--       registration, the note and the logs 1 to 3; what is not there is empty. Or 'no database'.

if ARGV[1] ~= '0' and redis.pcall('SELECT', ARGV[1]).err then return {'no database'} end

local clock = tonumber(ARGV[2])
if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
return {'ok', clock, redis.call('GET', KEYS[1]) or '', redis.call('HGETALL', KEYS[3]),
    redis.call('GET', KEYS[6]) or '', redis.call('GET', KEYS[7]) or '', redis.call('GET', KEYS[8]) or '',
    redis.call('GET', KEYS[9]) or '', redis.call('GET', KEYS[10]) or ''}
