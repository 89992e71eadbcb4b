-- broker/redis/documents.lua: documents, who holds them, and the ready tasks that share one.
--
--   held          hash: document -> id of its holder, or "?LOCK": whoever has that lock
--   documents     hash: document -> lines "ID LANE": its first ready task in each lane
--   behind:LANE\nDOCUMENT   sorted set of its other ready tasks in that lane
-- Only the first of a lane stands there, and only while the document is free: holding and letting go
-- cost one step for each lane of the document, however many tasks wait. SPDX-License-Identifier: MIT
local HELD, DOCUMENTS = base .. 'held', base .. 'documents'

-- A table of lane -> id.
local function document_read(document)
    local record = {}
    for id, lane in string.gmatch(redis.call('HGET', DOCUMENTS, document) or '', '(%S+) ([^\n]*)') do
        record[lane] = id
    end
    return record
end

local function document_write(document, record)
    local lines = {}
    for lane, id in pairs(record) do
        lines[#lines + 1] = id .. ' ' .. lane
    end
    if #lines == 0 then
        redis.call('HDEL', DOCUMENTS, document)
    else
        redis.call('HSET', DOCUMENTS, document, table.concat(lines, '\n'))
    end
end

local function behind(lane, document)
    return base .. 'behind:' .. lane .. '\n' .. document
end

-- A ready hint finds its place: in its lane, or behind another of its document.
local function join(hint)
    if not hint.document then
        return stand(hint.lane, hint.id, hint.score)
    end
    local record = document_read(hint.document)
    local free = not redis.call('HGET', HELD, hint.document)
    local first = record[hint.lane]
    local other = first and first ~= hint.id and hint_read(first)
    if other and other.place < hint.place then
        return redis.call('ZADD', behind(hint.lane, hint.document), hint.score, hint.id)
    end
    if other then
        redis.call('ZADD', behind(hint.lane, hint.document), other.score, first)
    end
    if first and free then
        step_out(hint.lane, first)
    end
    record[hint.lane] = hint.id
    document_write(hint.document, record)
    if free then
        stand(hint.lane, hint.id, hint.score)
    end
end

-- It is no longer ready: the next of its document takes its place.
local function leave(hint)
    if not hint.document then
        return step_out(hint.lane, hint.id)
    end
    local record = document_read(hint.document)
    if record[hint.lane] ~= hint.id then
        return redis.call('ZREM', behind(hint.lane, hint.document), hint.id)
    end
    local after = redis.call('ZPOPMIN', behind(hint.lane, hint.document))
    record[hint.lane] = after[1]
    document_write(hint.document, record)
    if not redis.call('HGET', HELD, hint.document) then
        step_out(hint.lane, hint.id)
        if after[1] then
            stand(hint.lane, after[1], after[2])
        end
    end
end

local function hold(document, holder)
    local was = redis.call('HGET', HELD, document)
    redis.call('HSET', HELD, document, holder)
    if not was then
        for lane, id in pairs(document_read(document)) do
            step_out(lane, id)
        end
    end
end

local function free(document)
    redis.call('HDEL', HELD, document)
    for lane, id in pairs(document_read(document)) do
        local hint = hint_read(id)
        if hint then
            stand(lane, id, hint.score)
        else
            lost()
        end
    end
end

local NOBODY = '00000000-0000-0000-0000-000000000000'

local function let_go(document, holder, lock)
    local held = redis.call('HGET', HELD, document)
    local foreign = held and string.sub(held, 1, 1) == '?'
    if held == holder or (foreign and (holder == NOBODY or held == '?' .. lock)) then
        free(document)
    end
end

-- Somebody has the lock of a document that was only taken here: he holds it.
local function yield(document, holder, lock)
    local held = redis.call('HGET', HELD, document)
    if not held or held == holder then
        hold(document, '?' .. lock)
    end
end
