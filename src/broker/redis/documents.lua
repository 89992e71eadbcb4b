-- broker/redis/documents.lua: documents, who holds them, and the ready tasks that share one.
--
--   hints           hash: id -> "SCORE\nQUEUE\nTYPE\nDOCUMENT" of each ready task with a document
--   held            hash: document -> id of its holder, or "?LOCK": whoever has that lock
--   row:SCOPE\nDOCUMENT   sorted set of its ready ids in one scope: a lane "Q T" or a queue "Q"
--   parked:DOCUMENT set of its scopes that do not stand in their line
--   thawing         set of documents that were let go and have more parked scopes than one call brings back
-- In each scope the document's first task stands in a line (doclane:, docqueue:) unless the scope is
-- parked. Holding changes nothing there: a claim that meets a task of a held document parks that one
-- scope, and letting go brings back the parked ones and wakes whoever waits for them. So a document costs
-- a step for each scope that was asked for while it was held, however many tasks and types wait on it.
-- SPDX-License-Identifier: MIT
local HINTS, HELD, THAWING = base .. 'hints', base .. 'held', base .. 'thawing'
local THAW_MAX = 100 -- scopes that one call brings back; whoever sent it calls again for the rest

local thaw_left = THAW_MAX
local written = {} -- hints by id
local holders = {} -- by document, as this call has seen or set them; false: nobody

-- ---- Hints ----

local function hint_new(id, score, queue, kind, document)
    return {id = id, score = tonumber(score), queue = queue, lane = queue .. ' ' .. kind, kind = kind,
        document = document}
end

local function hint_parse(id, text)
    return text and hint_new(id, string.match(text, '^(%d+)\n([^\n]*)\n([^\n]*)\n(.*)$')) or nil
end

local function hint_read(id)
    return hint_parse(id, redis.call('HGET', HINTS, id))
end

local function hint_write(hint)
    written[hint.id] = hint
    redis.call('HSET', HINTS, hint.id, string.format('%.0f\n', hint.score) .. hint.queue .. '\n' ..
        hint.kind .. '\n' .. hint.document)
end

-- As it was written by this call, if it was.
local function lane_of(id)
    local hint = written[id] or hint_read(id)
    return hint and hint.lane
end

-- ---- Holders ----

local function is_held(document)
    if holders[document] == nil then
        holders[document] = redis.call('HGET', HELD, document)
    end
    return holders[document]
end

local function hold(document, holder)
    holders[document] = holder
    redis.call('HSET', HELD, document, holder)
end

-- ---- Rows and lines ----

local function row_of(scope, document)
    return base .. 'row:' .. scope .. '\n' .. document
end

local function parked_of(document)
    return base .. 'parked:' .. document
end

-- Only a lane has a blank.
local function line_of(scope)
    return (string.find(scope, ' ', 1, true) and 'doclane:' or 'docqueue:') .. scope
end

-- The first of a scope stands in its line, if there is one.
local function stand_first(scope, document)
    local first = redis.call('ZRANGE', row_of(scope, document), 0, 0, 'WITHSCORES')
    if first[1] then
        stand(line_of(scope), first[1] .. ' ' .. document, first[2])
    end
end

local function park(scope, document, id)
    step_out(line_of(scope), id .. ' ' .. document)
    redis.call('SADD', parked_of(document), scope)
end

local function join_scope(hint, scope, held)
    local document, line, row = hint.document, line_of(scope), row_of(scope, hint.document)
    redis.call('ZADD', row, hint.score, hint.id)
    local first = redis.call('ZRANGE', row, 0, 1)
    local other = first[1] == hint.id and first[2] or first[1]
    local alone = other == hint.id
    if held then
        if redis.call('SADD', parked_of(document), scope) == 1 and not alone then
            step_out(line, other .. ' ' .. document)
        end
    elseif alone then
        stand(line, hint.id .. ' ' .. document, hint.score)
    elseif first[1] == hint.id and redis.call('SISMEMBER', parked_of(document), scope) == 0 then
        step_out(line, other .. ' ' .. document)
        stand(line, hint.id .. ' ' .. document, hint.score)
    end
end

-- A ready task finds its place in the rows of its document.
local function join(hint)
    local held = is_held(hint.document)
    hint_write(hint)
    join_scope(hint, hint.lane, held)
    join_scope(hint, hint.queue, held)
end

local function leave_scope(document, id, scope, held)
    local row = row_of(scope, document)
    local first = redis.call('ZRANGE', row, 0, 1)
    redis.call('ZREM', row, id)
    if first[1] ~= id then
        return
    end
    if redis.call(first[2] and 'SISMEMBER' or 'SREM', parked_of(document), scope) == 1 then
        return -- it stood nowhere; an empty scope is not remembered
    end
    if held and first[2] then
        return park(scope, document, id)
    end
    step_out(line_of(scope), id .. ' ' .. document)
    if first[2] then
        stand_first(scope, document)
    end
end

-- It is no longer ready: the next of its document takes its place.
local function leave(hint)
    local held = is_held(hint.document)
    leave_scope(hint.document, hint.id, hint.lane, held)
    leave_scope(hint.document, hint.id, hint.queue, held)
    redis.call('HDEL', HINTS, hint.id)
end

-- ---- Letting go ----

-- The parked scopes of a free document come back, as many as this call still may.
local function thaw(document)
    local scopes = thaw_left > 0 and redis.call('SPOP', parked_of(document), thaw_left) or {}
    for _, scope in ipairs(scopes) do
        stand_first(scope, document)
    end
    thaw_left = thaw_left - #scopes
    if thaw_left == 0 and redis.call('EXISTS', parked_of(document)) == 1 then
        redis.call('SADD', THAWING, document)
    end
end

-- What earlier calls left. True: there is more.
local function thaw_rest()
    while thaw_left > 0 do
        local document = redis.call('SPOP', THAWING)
        if not document then
            return false
        end
        thaw_left = thaw_left - 1
        if not is_held(document) then
            thaw(document)
        end
    end
    return redis.call('EXISTS', THAWING) == 1
end

local NOBODY = '00000000-0000-0000-0000-000000000000'

local function let_go(document, holder, lock)
    local held = is_held(document)
    local foreign = held and string.sub(held, 1, 1) == '?'
    if held == holder or (foreign and (holder == NOBODY or held == '?' .. lock)) then
        holders[document] = false
        redis.call('HDEL', HELD, document)
        thaw(document)
    end
end

-- Somebody has the lock of a document that was only taken here: he holds it.
local function yield(document, holder, lock)
    local held = is_held(document)
    if not held or held == holder then
        hold(document, '?' .. lock)
    end
end
