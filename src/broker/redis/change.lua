-- broker/redis/change.lua: what a batch changes, in its order. SPDX-License-Identifier: MIT
local function offer(id, score, queue, kind, document)
    local was = hint_read(id)
    local hint = hint_new(id, score, queue, kind, document)
    if was then
        leave(was)
        hint_drop(was)
    end
    hint_write(hint)
    join(hint)
end

local function withdraw(id)
    local was = hint_read(id)
    if was then
        leave(was)
        hint_drop(was)
    end
end

local changes = {
    offer = offer,
    withdraw = withdraw,
    hold = hold,
    let_go = let_go,
    yield = yield,
    give_back = function(id, score, queue, kind, document)
        if document ~= '' then
            let_go(string.sub(document, 2), id, '')
        end
        offer(id, score, queue, kind, document)
    end,
}

local function is_filled()
    return redis.call('EXISTS', base .. 'filled')
end

-- change LOST [VERB A B C D E]…: is it filled, and the lanes where somebody should look again. LOST:
-- earlier changes of the sender did not arrive.
local function change(args)
    if args[1] == '1' then
        redis.call('DEL', base .. 'filled', base .. 'filling')
    end
    for i = 2, #args, 6 do
        changes[args[i]](args[i + 1], args[i + 2], args[i + 3], args[i + 4], args[i + 5])
    end
    local better = sync_all()
    table.insert(better, 1, is_filled())
    return better
end
