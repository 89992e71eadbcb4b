-- broker/redis/lanes.lua: hints, the lanes they stand in, and who is first in each.
--
-- All keys share the hash tag of KEYS[1] ("errand:{dispatch}:"), so one slot of a cluster holds them:
--   hints         hash: id -> "SCORE\nQUEUE\nTYPE\n[=DOCUMENT]"
--   lane:Q T      sorted set of the ids that may be taken now; "Q T" is a lane: a queue and a type
--   age:Q         sorted set of all ready ids of a queue by queued_ms
--   heads         hash: lane -> "PLACE ID" of its first, as the three registries have it
--   all, queue:Q, type:T   registries: sorted sets of "ID Q T", the first of each lane
-- A score is (4 - priority) * 2^44 + queued_ms; equal scores go by id, which is by creation. A place
-- is the same as text: places are compared like numbers.
--
-- Tasks leave and enter lanes freely; the registries are put right by lane_sync(), once for each lane
-- that was touched, before the script ends. SPDX-License-Identifier: MIT
local base = KEYS[1]
local HINTS, HEADS = base .. 'hints', base .. 'heads'
local LEVEL = 17592186044416
local ID = 36 -- characters of an id

local touched = {} -- lanes whose first may have changed

-- Redis threw something of ours away (maxmemory): not all hints are here any more.
local function lost()
    redis.call('DEL', base .. 'filled')
end

local function place_of(score, id)
    return string.format('%014.0f ', score) .. id
end

-- `document` is "" or "=DOCUMENT". Only tasks of a document are compared one by one.
local function hint_new(id, score, queue, kind, document)
    local hint = {id = id, score = tonumber(score), queue = queue, kind = kind, lane = queue .. ' ' .. kind}
    if document ~= '' then
        hint.document = string.sub(document, 2)
        hint.place = place_of(hint.score, id)
    end
    return hint
end

local function hint_read(id)
    local text = redis.call('HGET', HINTS, id)
    if text then
        return hint_new(id, string.match(text, '^(%d+)\n([^\n]*)\n([^\n]*)\n(.*)$'))
    end
end

local function hint_write(hint)
    local document = hint.document and '=' .. hint.document or ''
    redis.call('HSET', HINTS, hint.id, string.format('%.0f\n', hint.score) .. hint.queue .. '\n' ..
        hint.kind .. '\n' .. document)
    redis.call('ZADD', base .. 'age:' .. hint.queue, hint.score % LEVEL, hint.id)
end

local function hint_drop(hint)
    redis.call('HDEL', HINTS, hint.id)
    redis.call('ZREM', base .. 'age:' .. hint.queue, hint.id)
end

-- A lane as a table of its own key and registries; names of queues have no blanks.
local function lane_parts(lane)
    local queue, kind = string.match(lane, '^(%S*) (.*)$')
    return queue, kind
end

local function stand(lane, id, score)
    touched[lane] = true
    redis.call('ZADD', base .. 'lane:' .. lane, score, id)
end

local function step_out(lane, id)
    touched[lane] = true
    redis.call('ZREM', base .. 'lane:' .. lane, id)
end

-- The place and id of its first; nothing when it is empty.
local function lane_first(lane)
    local found = redis.call('ZRANGE', base .. 'lane:' .. lane, 0, 0, 'WITHSCORES')
    if found[1] then
        return place_of(tonumber(found[2]), found[1]), found[1], tonumber(found[2])
    end
end

-- Puts the registries right. True: a better one is first than before, or one where there was none.
local function lane_sync(lane)
    local was = redis.call('HGET', HEADS, lane)
    local now, id, score = lane_first(lane)
    local queue, kind = lane_parts(lane)
    touched[lane] = nil
    if now == (was or nil) then
        return false
    end
    for _, key in ipairs({base .. 'all', base .. 'queue:' .. queue, base .. 'type:' .. kind}) do
        if was then
            redis.call('ZREM', key, string.sub(was, -ID) .. ' ' .. lane)
        end
        if now then
            redis.call('ZADD', key, score, id .. ' ' .. lane)
        end
    end
    if now then
        redis.call('HSET', HEADS, lane, now)
    else
        redis.call('HDEL', HEADS, lane)
    end
    return now and (not was or now < was)
end

-- The touched lanes that have a better first than before.
local function sync_all()
    local better, lanes = {}, {}
    for lane in pairs(touched) do
        lanes[#lanes + 1] = lane
    end
    for _, lane in ipairs(lanes) do
        if lane_sync(lane) then
            better[#better + 1] = lane
        end
    end
    return better
end
