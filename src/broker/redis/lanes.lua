-- broker/redis/lanes.lua: the lines that ready tasks stand in, and who is first in each.
--
-- All keys share the hash tag of KEYS[1] ("errand:{dispatch3}:"), so one slot of a cluster holds them:
--   heads         hash: line -> "SCORE ENTRY" of its first, as the registries have it
-- and the lines, sorted sets. "Q T" is a lane: a queue and a type. A task without a document is an entry of its lane
-- and nothing else:
--   lane:Q T      ids                             its first is known to queue:Q and type:T
--   queue:Q       "ID Q T", first of each lane    its first is known to all
--   type:T, all   "ID Q T", one for each queue
-- Documents (documents.lua), each with its first ready task of that lane or queue:
--   doclane:Q T   "ID DOCUMENT"                   its first is known to doctype:T
--   docqueue:Q    "ID DOCUMENT"                   its first is known to docall
--   doctype:T     "ID Q T", one for each queue;   docall   "ID Q", one for each queue
-- A registry that spans queues has one entry for each, so a claim that leaves some queues out passes
-- over no more entries than it names.
--
-- A score is (4 - priority) * 2^44 + queued_ms; equal scores go by id, which is by creation. A place
-- is the same as text: places are compared like numbers.
--
-- Tasks leave and enter lines freely; the registries are put right by line_sync(), once for each line
-- that was touched, before the script ends. SPDX-License-Identifier: MIT
local base = KEYS[1]
local HEADS = base .. 'heads'
local ID = 36    -- characters of an id
local SCORE = 15 -- characters of a score and a blank at the beginning of a place

local touched = {} -- lines whose first may have changed
local better = {}  -- lanes where somebody should look again

-- Redis threw something of ours away (maxmemory): not all hints are here any more.
local function lost()
    redis.call('DEL', base .. 'filled', base .. 'filling')
end

local function is_filled()
    return redis.call('EXISTS', base .. 'filled')
end

-- A score is at most 14 digits, and is filled up to as many.
local function place_of(score, entry)
    return string.sub('0000000000000' .. score, 1 - SCORE) .. ' ' .. entry
end

local function stand(line, entry, score)
    touched[line] = true
    redis.call('ZADD', base .. line, score, entry)
end

local function step_out(line, entry)
    touched[line] = true
    redis.call('ZREM', base .. line, entry)
end

-- Its first entry and that one's score; nothing when it is empty. Scores and ranks stay the texts that they are: each
-- number in a call is written as a floating-point one, which costs a good part of a small command.
local function line_first(line)
    local found = redis.call('ZRANGE', base .. line, '0', '0', 'WITHSCORES')
    return found[1], found[2]
end

-- Who must know the first of a line, by the kind of the line and its queue and type.
local registries = {
    lane = function(queue, kind) return {'queue:' .. queue, 'type:' .. kind} end,
    queue = function() return {'all'} end,
    doclane = function(_, kind) return {'doctype:' .. kind} end,
    docqueue = function() return {'docall'} end,
}

-- Puts the registries right. `lane_of(id)` tells the lane of a task with a document. Names of queues have no blanks.
local function line_sync(line, lane_of)
    local kind, of = string.match(line, '^(%a+):(.*)$')
    local queue, rest = string.match(of, '^(%S*) ?(.*)$')
    local first, score = line_first(line)
    local was = redis.call('HGET', HEADS, line) or nil
    local entry = first and (kind == 'queue' and first or string.sub(first, 1, ID) .. ' ' .. of)
    local now = entry and place_of(score, entry)
    touched[line] = nil
    if now == was then
        return
    end
    for _, registry in ipairs(registries[kind](queue, rest)) do
        touched[registry] = registries[string.match(registry, '^%a+')] and true or nil
        if was then
            redis.call('ZREM', base .. registry, string.sub(was, SCORE + 1))
        end
        if now then
            redis.call('ZADD', base .. registry, score, entry)
        end
    end
    if now then
        redis.call('HSET', HEADS, line, now)
    else
        redis.call('HDEL', HEADS, line)
    end
    if kind ~= 'queue' and now and (not was or now < was) then
        better[kind == 'docqueue' and lane_of(string.sub(first, 1, ID)) or of] = true
    end
end

-- A lane touches its queue in turn.
local function sync_all(lane_of)
    while next(touched) do
        local lines = {}
        for line in pairs(touched) do
            lines[#lines + 1] = line
        end
        for _, line in ipairs(lines) do
            line_sync(line, lane_of)
        end
    end
end
