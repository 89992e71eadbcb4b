-- broker/redis/look.lua: questions that change nothing, and the sentinel that says whether the answers
-- are worth something. Each answer begins with it. SPDX-License-Identifier: MIT
local looks = {}

-- DOCUMENT MOST: its holder or "", how many wait, then at most so many of their ids in start order.
function looks.document(args)
    local all, count, most = {}, 0, tonumber(args[2])
    for lane, id in pairs(document_read(args[1])) do
        local hint = hint_read(id)
        local others = behind(lane, args[1])
        count = count + 1 + redis.call('ZCARD', others)
        all[#all + 1] = hint and hint.place or place_of(0, id)
        local found = most > 1 and redis.call('ZRANGE', others, 0, most - 2, 'WITHSCORES') or {}
        for i = 1, #found, 2 do
            all[#all + 1] = place_of(tonumber(found[i + 1]), found[i])
        end
    end
    table.sort(all)
    local out = {is_filled(), redis.call('HGET', HELD, args[1]) or '', count}
    for i = 1, math.min(#all, most) do
        out[#out + 1] = string.sub(all[i], -ID)
    end
    return out
end

-- DOCUMENT: its holder or "".
function looks.holder(args)
    return {is_filled(), redis.call('HGET', HELD, args[1]) or ''}
end

-- MOST: document and holder of each.
function looks.documents(args)
    local out, cursor, most = {is_filled()}, '0', tonumber(args[1])
    repeat
        local found = redis.call('HSCAN', HELD, cursor)
        cursor = found[1]
        for i = 1, #found[2], 1 do
            out[#out + 1] = #out < 1 + 2 * most and found[2][i] or nil
        end
    until cursor == '0' or #out >= 1 + 2 * most
    return out
end

-- How many of `set` stand before this place: it is put there for a moment.
local function rank_in(set, hint)
    local rank = redis.call('ZRANK', set, hint.id)
    if not rank and redis.call('EXISTS', set) == 1 then
        redis.call('ZADD', set, hint.score, hint.id)
        rank = redis.call('ZRANK', set, hint.id)
        redis.call('ZREM', set, hint.id)
    end
    return rank or 0
end

-- ID: is it known, its document as in a hint, how many of that stand before it.
function looks.ahead(args)
    local hint, n = hint_read(args[1]), 0
    if not hint or not hint.document then
        return {is_filled(), hint and 1 or 0, '', 0}
    end
    for lane, id in pairs(document_read(hint.document)) do
        local first = id ~= hint.id and hint_read(id)
        if first and first.place < hint.place then
            n = n + 1
        end
        n = n + rank_in(behind(lane, hint.document), hint)
    end
    return {is_filled(), 1, '=' .. hint.document, n}
end

-- ID: is it ready? A hint that stands nowhere any more is not.
function looks.knows(args)
    local hint = hint_read(args[1])
    local first = hint and hint.document and document_read(hint.document)[hint.lane]
    local stands
    if not hint then
        stands = false
    elseif first and first ~= hint.id then
        stands = redis.call('ZSCORE', behind(hint.lane, hint.document), hint.id)
    else
        stands = redis.call('ZSCORE', base .. 'lane:' .. hint.lane, hint.id) or
            first and redis.call('HGET', HELD, hint.document)
    end
    return {is_filled(), stands and 1 or 0}
end

function looks.count()
    return {is_filled(), redis.call('HLEN', HINTS)}
end

-- QUEUE: queued_ms of its oldest as text; "": none.
function looks.oldest(args)
    local found = redis.call('ZRANGE', base .. 'age:' .. args[1], 0, 0, 'WITHSCORES')
    return {is_filled(), found[2] and string.format('%.0f', tonumber(found[2])) or ''}
end

-- TOKEN: is it filled? If not, whoever asks begins to fill it.
function looks.empty(args)
    if is_filled() == 0 then
        redis.call('SET', base .. 'filling', args[1])
    end
    return {is_filled()}
end

-- TOKEN: everything was offered since looks.empty() was asked with it, unless all was flushed again
-- meanwhile. No token: it is filled in any case.
function looks.filled(args)
    if args[1] == '' or redis.call('GET', base .. 'filling') == args[1] then
        redis.call('SET', base .. 'filled', '1')
    end
    return {is_filled()}
end

looks.change, looks.take, looks.has = change, take, has

local verb = table.remove(ARGV, 1)
return looks[verb](ARGV)
