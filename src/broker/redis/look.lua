-- broker/redis/look.lua: questions that change nothing, and the sentinel that says whether the answers
-- are worth something. Each answer begins with it. SPDX-License-Identifier: MIT
local looks = {change = change, take = take, has = has}

-- [IDENTITY]: a sentinel of other data than these came here from a server that had more, or other hints.
function looks.health()
    local of = ARGV[2] and ARGV[2] ~= '' and redis.call('GET', base .. 'filled')
    if of and of ~= ARGV[2] then
        lost()
    end
    return {is_filled()}
end

-- DOCUMENT: its holder or "".
function looks.holder()
    return {is_filled(), is_held(ARGV[2]) or ''}
end

-- CURSOR MOST: where to go on, "0" at the end; then document and holder of about so many.
function looks.held()
    local found = redis.call('HSCAN', HELD, ARGV[2], 'COUNT', ARGV[3])
    local out = {is_filled(), found[1]}
    for _, text in ipairs(found[2]) do
        out[#out + 1] = text
    end
    return out
end

-- ID QUEUE TYPE: is it ready? A hint that stands nowhere any more is not.
function looks.knows()
    local hint = hint_read(ARGV[2])
    local key = hint and row_of(hint.lane, hint.document) or base .. 'lane:' .. ARGV[3] .. ' ' .. ARGV[4]
    return {is_filled(), redis.call('ZSCORE', key, ARGV[2]) and 1 or 0}
end

-- How many are ready: a step for each lane, so nobody asks who has others waiting.
function looks.count()
    local n = redis.call('HLEN', HINTS)
    for _, line in ipairs(redis.call('HKEYS', HEADS)) do
        if string.sub(line, 1, 5) == 'lane:' then
            n = n + redis.call('ZCARD', base .. line)
        end
    end
    return {is_filled(), n}
end

-- TOKEN: whoever asks begins to fill it, under that token or the one that others do it with already. It
-- is gone as soon as something is lost.
function looks.fill()
    redis.call('SET', base .. 'filling', ARGV[2], 'NX')
    return {is_filled(), redis.call('GET', base .. 'filling')}
end

-- TOKEN IDENTITY: everything was offered since looks.fill() gave it, unless something was lost again meanwhile.
-- No token: it is filled in any case.
function looks.filled()
    if ARGV[2] == '' or redis.call('GET', base .. 'filling') == ARGV[2] then
        redis.call('SET', base .. 'filled', ARGV[3])
        redis.call('DEL', base .. 'filling')
    end
    return {is_filled()}
end

return looks[ARGV[1]]()
