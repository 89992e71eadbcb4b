-- broker/redis/release.lua: ends a lock, if it is still ours. SPDX-License-Identifier: MIT
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
