-- broker/redis/lanes.lua: hints, the lines they stand in, and who is first in each.
--
-- All keys share the hash tag of KEYS[1] ("errand:{dispatch2}:"), so one slot of a cluster holds them:
--   hints         hash: id -> "SCORE\nQUEUE\nTYPE\n[=DOCUMENT]"
--   age:Q         sorted set of all ready ids of a queue by queued_ms
--   heads         hash: line -> "SCORE ENTRY" of its first, as the registries have it
-- and the lines, sorted sets. "Q T" is a lane: a queue and a type. Tasks without a document:
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
local HINTS, HEADS = base .. 'hints', base .. 'heads'
local LEVEL = 17592186044416
local ID = 36    -- characters of an id
local SCORE = 15 -- characters of a score and a blank at the beginning of a place

local touched = {} -- lines whose first may have changed
local better = {}  -- lanes where somebody should look again
local written = {} -- hints by id

-- Redis threw something of ours away (maxmemory): not all hints are here any more.
local function lost()
    redis.call('DEL', base .. 'filled', base .. 'filling')
end

local function place_of(score, id)
    return string.format('%014.0f ', score) .. id
end

-- `document` is "" or "=DOCUMENT".
local function hint_new(id, score, queue, kind, document)
    return {id = id, score = tonumber(score), queue = queue, kind = kind, lane = queue .. ' ' .. kind,
        document = document ~= '' and string.sub(document, 2) or nil}
end

local function hint_read(id)
    local text = redis.call('HGET', HINTS, id)
    if text then
        return hint_new(id, string.match(text, '^(%d+)\n([^\n]*)\n([^\n]*)\n(.*)$'))
    end
end

-- As it was written by this call, if it was.
local function hint_of(id)
    return written[id] or hint_read(id)
end

local function hint_write(hint)
    written[hint.id] = hint
    local document = hint.document and '=' .. hint.document or ''
    redis.call('HSET', HINTS, hint.id, string.format('%.0f\n', hint.score) .. hint.queue .. '\n' ..
        hint.kind .. '\n' .. document)
    redis.call('ZADD', base .. 'age:' .. hint.queue, hint.score % LEVEL, hint.id)
end

local function hint_drop(hint)
    redis.call('HDEL', HINTS, hint.id)
    redis.call('ZREM', base .. 'age:' .. hint.queue, hint.id)
end

local function stand(line, entry, score)
    touched[line] = true
    redis.call('ZADD', base .. line, score, entry)
end

local function step_out(line, entry)
    touched[line] = true
    redis.call('ZREM', base .. line, entry)
end

-- Its first entry and that one's score; nothing when it is empty.
local function line_first(line)
    local found = redis.call('ZRANGE', base .. line, 0, 0, 'WITHSCORES')
    return found[1], tonumber(found[2])
end

-- Who must know the first of a line, by the kind of the line and its queue and type.
local registries = {
    lane = function(queue, kind) return {'queue:' .. queue, 'type:' .. kind} end,
    queue = function() return {'all'} end,
    doclane = function(_, kind) return {'doctype:' .. kind} end,
    docqueue = function() return {'docall'} end,
}

-- Puts the registries right. Names of queues have no blanks.
local function line_sync(line)
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
        local hint = kind == 'docqueue' and hint_of(string.sub(first, 1, ID))
        better[hint and hint.lane or of] = true
    end
end

-- A lane touches its queue in turn.
local function sync_all()
    while next(touched) do
        local lines = {}
        for line in pairs(touched) do
            lines[#lines + 1] = line
        end
        for _, line in ipairs(lines) do
            line_sync(line)
        end
    end
end
