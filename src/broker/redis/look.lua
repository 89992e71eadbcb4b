-- broker/redis/look.lua: questions that change nothing, and the sentinel that says whether the answers
-- are worth something. Each answer begins with it. SPDX-License-Identifier: MIT
local looks = {}

-- DOCUMENT MOST: its holder or "", how many wait, then at most so many of their ids in start order.
function looks.document(args)
    local key, most = base .. 'of:' .. args[1], tonumber(args[2])
    local out = {is_filled(), is_held(args[1]) or '', redis.call('ZCARD', key)}
    for _, id in ipairs(most > 0 and redis.call('ZRANGE', key, 0, most - 1) or {}) do
        out[#out + 1] = id
    end
    return out
end

-- DOCUMENT: its holder or "".
function looks.holder(args)
    return {is_filled(), is_held(args[1]) or ''}
end

-- CURSOR MOST: where to go on, "0" at the end; then document and holder of about so many.
function looks.held(args)
    local found = redis.call('HSCAN', HELD, args[1], 'COUNT', args[2])
    local out = {is_filled(), found[1]}
    for _, text in ipairs(found[2]) do
        out[#out + 1] = text
    end
    return out
end

-- ID: is it known, its document as in a hint, how many of that stand before it.
function looks.ahead(args)
    local hint = hint_read(args[1])
    if not hint or not hint.document then
        return {is_filled(), hint and 1 or 0, '', 0}
    end
    local rank = redis.call('ZRANK', base .. 'of:' .. hint.document, hint.id)
    return {is_filled(), 1, '=' .. hint.document, rank or 0}
end

-- ID: is it ready? A hint that stands nowhere any more is not.
function looks.knows(args)
    local hint = hint_read(args[1])
    local where = hint and (hint.document and 'of:' .. hint.document or 'lane:' .. hint.lane)
    return {is_filled(), where and redis.call('ZSCORE', base .. where, hint.id) and 1 or 0}
end

function looks.count()
    return {is_filled(), redis.call('HLEN', HINTS)}
end

-- QUEUE: queued_ms of its oldest as text; "": none.
function looks.oldest(args)
    local found = redis.call('ZRANGE', base .. 'age:' .. args[1], 0, 0, 'WITHSCORES')
    return {is_filled(), found[2] and string.format('%.0f', tonumber(found[2])) or ''}
end

-- TOKEN: whoever asks begins to fill it, under that token or the one that others do it with already. It
-- is gone as soon as something is lost.
function looks.fill(args)
    redis.call('SET', base .. 'filling', args[1], 'NX')
    return {is_filled(), redis.call('GET', base .. 'filling')}
end

-- TOKEN: everything was offered since looks.fill() gave it, unless something was lost again meanwhile.
-- No token: it is filled in any case.
function looks.filled(args)
    if args[1] == '' or redis.call('GET', base .. 'filling') == args[1] then
        redis.call('SET', base .. 'filled', '1')
        redis.call('DEL', base .. 'filling')
    end
    return {is_filled()}
end

looks.change, looks.take, looks.has = change, take, has

local verb = table.remove(ARGV, 1)
return looks[verb](ARGV)
