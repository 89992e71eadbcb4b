-- broker/redis/take.lua: claims: the best tasks of the wanted queues and types, in one line.
--
-- A claim looks at sources: one lane when it names queue and type, a queue's registry when it takes
-- any type, a type's or the whole registry when it takes any queue. They stand in a line, best last, by
-- the place of their first. While a claim is served tasks only leave, so a remembered place can only be
-- too early: looking again when a source comes to the end of the line is enough.
-- SPDX-License-Identifier: MIT
local PIECE = 8 -- entries of a registry looked at together

-- MAX ANY QUEUES [QUEUE ROOM]… [TYPE]…
local function want_read(args)
    local want = {max = tonumber(args[1]), named = {}, sources = {}}
    local queues = tonumber(args[3])
    local first_type = 4 + 2 * queues
    local any_type = #args < first_type
    local function add(source)
        want.sources[#want.sources + 1] = source
    end
    for i = 4, first_type - 1, 2 do
        local room = {left = tonumber(args[i + 1])}
        want.named[args[i]] = true
        if any_type then
            add({key = base .. 'queue:' .. args[i], room = room})
        end
        for t = first_type, #args do
            add({lane = args[i] .. ' ' .. args[t], room = room})
        end
    end
    if args[2] == '1' and any_type then
        add({key = base .. 'all', others = want.named})
    elseif args[2] == '1' then
        for t = first_type, #args do
            add({key = base .. 'type:' .. args[t], others = want.named})
        end
    end
    return want
end

-- The first of a registry that this source may take: its entry and place. Nothing: none.
local function registry_first(source)
    local at = 0
    while true do
        local found = redis.call('ZRANGE', source.key, at, at + PIECE - 1, 'WITHSCORES')
        local stale = false
        for i = 1, #found, 2 do
            local lane = string.sub(found[i], ID + 2)
            if touched[lane] then
                lane_sync(lane)
                stale = true
                break
            elseif not (source.others and source.others[lane_parts(lane)]) then
                return place_of(tonumber(found[i + 1]), string.sub(found[i], 1, ID)), found[i]
            end
        end
        if not stale and #found < 2 * PIECE then
            return nil
        end
        at = stale and at or at + PIECE
    end
end

-- Its place; source.entry and source.id say who it is.
local function source_first(source)
    if source.room and source.room.left <= 0 then
        return nil
    end
    if source.lane then
        local place, id = lane_first(source.lane)
        source.id = id
        return place
    end
    local place, entry = registry_first(source)
    source.entry = entry
    source.id = entry and string.sub(entry, 1, ID)
    return place
end

-- The hint that an entry names was thrown away.
local function forget(source)
    lost()
    if source.entry then
        redis.call('ZREM', source.key, source.entry)
    end
    step_out(source.lane or string.sub(source.entry, ID + 2), source.id)
end

local function take_first(source, out)
    local hint = hint_read(source.id)
    if not hint then
        return forget(source)
    end
    if hint.document then
        hold(hint.document, hint.id)
    end
    leave(hint)
    hint_drop(hint)
    if source.room then
        source.room.left = source.room.left - 1
    end
    for _, value in ipairs({hint.id, string.format('%.0f', hint.score), hint.queue, hint.kind,
        hint.document and '=' .. hint.document or ''}) do
        out[#out + 1] = value
    end
end

-- The last source of the line moves to where its new place belongs.
local function line_up(line)
    local source = table.remove(line)
    local low, high = 1, #line + 1
    while low < high do
        local middle = math.floor((low + high) / 2)
        if line[middle].place < source.place then
            high = middle
        else
            low = middle + 1
        end
    end
    table.insert(line, low, source)
end

local function line_begin(want)
    local line = {}
    for _, source in ipairs(want.sources) do
        source.place = source_first(source)
        if source.place then
            line[#line + 1] = source
        end
    end
    table.sort(line, function(a, b) return a.place > b.place end)
    return line
end

-- take MAX ANY QUEUES …: is it filled, then ID SCORE QUEUE TYPE DOCUMENT of each. Not filled: none.
local function take(args)
    local out = {is_filled()}
    if out[1] == 0 then
        return out
    end
    local want = want_read(args)
    local line = line_begin(want)
    while #out < 1 + 5 * want.max and #line > 0 do
        local source = line[#line]
        local place = source_first(source)
        if not place then
            table.remove(line)
        elseif place ~= source.place and #line > 1 then
            source.place = place
            line_up(line)
        else
            take_first(source, out)
        end
    end
    sync_all()
    return out
end

-- has MAX ANY QUEUES …: is it filled, could something be taken.
local function has(args)
    for _, source in ipairs(want_read(args).sources) do
        if source_first(source) then
            return {is_filled(), 1}
        end
    end
    return {is_filled(), 0}
end
