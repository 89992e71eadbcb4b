-- broker/redis/change.lua: what a batch changes, in its order. SPDX-License-Identifier: MIT
local function withdraw(id)
    local was = hint_read(id)
    if was then
        leave(was)
        hint_drop(was)
    end
end

-- A task that is offered does not run: if it holds its document, the node that took it died before it
-- could say more. Leaving and joining again also mends what Redis threw away.
local function offer(id, score, queue, kind, document)
    local hint = hint_new(id, score, queue, kind, document)
    withdraw(id)
    if hint.document then
        let_go(hint.document, id, '')
    end
    hint_write(hint)
    join(hint)
end

-- Up to five tasks that live on the other half; they are hardly ever here as well.
local function elsewhere(...)
    local known = redis.call('HMGET', HINTS, ...)
    for i = 1, #known do
        if known[i] then
            withdraw((select(i, ...)))
        end
    end
end

local changes = {
    offer = offer,
    withdraw = withdraw,
    elsewhere = elsewhere,
    hold = hold,
    let_go = let_go,
    yield = yield,
}

local function is_filled()
    return redis.call('EXISTS', base .. 'filled')
end

-- change LOST [VERB A B C D E]…: is it filled, is more to be done (call again, without a change), and the
-- lanes where somebody should look again. LOST: earlier changes of the sender did not arrive.
local function change(args)
    if args[1] == '1' then
        redis.call('DEL', base .. 'filled', base .. 'filling')
    end
    for i = 2, #args, 6 do
        changes[args[i]](args[i + 1], args[i + 2], args[i + 3], args[i + 4], args[i + 5])
    end
    local out = {0, thaw_rest() and 1 or 0}
    sync_all()
    out[1] = is_filled()
    for lane in pairs(better) do
        out[#out + 1] = lane
    end
    return out
end
