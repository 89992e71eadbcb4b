-- broker/redis/renew.lua: a running attempt keeps its lock. SPDX-License-Identifier: MIT
local was = redis.call('GET', KEYS[1])
if not was or was == ARGV[1] then
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1
