-- broker/redis/lock.lua: takes a document's lock, or tells who has it. SPDX-License-Identifier: MIT
local was = redis.call('GET', KEYS[1])
if not was then
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return was ~= ARGV[1] and was
