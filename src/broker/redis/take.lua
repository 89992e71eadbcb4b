-- broker/redis/take.lua: claims: the best tasks of the wanted queues and types, in one line.
--
-- A claim looks at sources: one lane when it names queue and type, a queue's registry when it takes
-- any type, a type's or the whole registry when it takes any queue; and for each of them another where
-- documents stand. They stand in a line, best last, by the place of their first. While a claim is served
-- tasks only leave, so a remembered place can only be too early: looking again when a source comes to the
-- end of the line is enough. SPDX-License-Identifier: MIT
local PIECE = 8     -- entries of a registry looked at together
local PARK_MAX = 50 -- tasks of held documents that one call parks; whoever sent it calls again for the rest

local park_left = PARK_MAX

-- The call has done enough: what it found so far is right, but there may be more.
local function spent()
    return park_left <= 0
end

-- MAX ANY QUEUES [QUEUE ROOM]… [TYPE]…
local function want_read(args)
    local want = {max = tonumber(args[1]), sources = {}}
    local named, queues = {}, tonumber(args[3])
    local first_type = 4 + 2 * queues
    local any_type = #args < first_type
    local function add(source)
        want.sources[#want.sources + 1] = source
    end
    for i = 4, first_type - 1, 2 do
        local queue, room = args[i], {left = tonumber(args[i + 1])}
        named[queue] = true
        if any_type then
            add({registry = 'queue:' .. queue, room = room})
            add({scope = queue, room = room})
        end
        for t = first_type, #args do
            local lane = queue .. ' ' .. args[t]
            add({lane = lane, room = room})
            add({scope = lane, room = room})
        end
    end
    if args[2] == '1' and any_type then
        add({registry = 'all', others = named})
        add({registry = 'docall', documents = true, others = named})
    elseif args[2] == '1' then
        for t = first_type, #args do
            add({registry = 'type:' .. args[t], others = named})
            add({registry = 'doctype:' .. args[t], documents = true, others = named})
        end
    end
    return want
end

-- The place, id and document of a scope's first whose document is free. Those of held ones are parked.
local function scope_first(scope)
    while not spent() do
        local entry, score = line_first(line_of(scope))
        if not entry then
            return nil
        end
        local id, document = string.sub(entry, 1, ID), string.sub(entry, ID + 2)
        if not is_held(document) then
            return place_of(score, id), id, document
        end
        park_left = park_left - 1
        park(scope, document, id)
    end
end

-- The first entry of a registry whose queue was not left out; nothing: none.
local function registry_entry(source)
    local at = 0
    while true do
        local found = redis.call('ZRANGE', base .. source.registry, at, at + PIECE - 1, 'WITHSCORES')
        for i = 1, #found, 2 do
            if not (source.others and source.others[string.match(found[i], '^%S+ (%S*)')]) then
                return found[i], tonumber(found[i + 1])
            end
        end
        if #found < 2 * PIECE then
            return nil
        end
        at = at + PIECE
    end
end

-- Its place; source.id, .lane or .scope with .document, and .entry say who it is.
local function registry_first(source)
    while not spent() do
        sync_all()
        local entry, score = registry_entry(source)
        if not entry then
            return nil
        end
        local id, of = string.sub(entry, 1, ID), string.sub(entry, ID + 2)
        source.id, source.entry = id, entry
        if not source.documents then
            source.lane = of
            return place_of(score, id)
        end
        local place, first, document = scope_first(of)
        if first == id then
            source.scope, source.document = of, document
            return place
        elseif not touched[line_of(of)] and not spent() then
            lost() -- the line knows nothing of it
            redis.call('ZREM', base .. source.registry, entry)
        end
    end
end

local function source_first(source)
    if source.room and source.room.left <= 0 then
        return nil
    end
    if source.registry then
        return registry_first(source)
    end
    if source.scope then
        local place
        place, source.id, source.document = scope_first(source.scope)
        return place
    end
    local id, score = line_first('lane:' .. source.lane)
    source.id = id
    return id and place_of(score, id)
end

-- The hint of a source's first was thrown away.
local function forget(source)
    lost()
    if source.entry then
        redis.call('ZREM', base .. source.registry, source.entry)
    end
    if source.document then
        redis.call('ZREM', base .. 'of:' .. source.document, source.id)
        redis.call('ZREM', row_of(source.scope, source.document), source.id)
        step_out(line_of(source.scope), source.id .. ' ' .. source.document)
        stand_first(source.scope, source.document)
    else
        local queue = string.match(source.lane, '^%S*')
        step_out('queue:' .. queue, source.id .. ' ' .. source.lane)
        step_out('lane:' .. source.lane, source.id)
    end
end

local function take_first(source, out)
    local hint = hint_read(source.id)
    if not hint or hint.document ~= source.document then
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

-- take MAX ANY QUEUES …: is it filled, is there more to look at (ask again for the rest), then ID SCORE
-- QUEUE TYPE DOCUMENT of each. Not filled: none.
local function take(args)
    local out = {is_filled(), 0}
    if out[1] == 0 then
        return out
    end
    local want = want_read(args)
    local line = line_begin(want)
    while #out < 2 + 5 * want.max and #line > 0 and not spent() do
        local source = line[#line]
        local place = source_first(source)
        if spent() then
            break
        elseif not place then
            table.remove(line)
        elseif place ~= source.place and #line > 1 then
            source.place = place
            line_up(line)
        else
            source.place = place
            take_first(source, out)
        end
    end
    sync_all()
    out[2] = spent() and #out < 2 + 5 * want.max and 1 or 0
    return out
end

-- has MAX ANY QUEUES …: is it filled, is there more to look at, could something be taken.
local function has(args)
    local found = 0
    for _, source in ipairs(want_read(args).sources) do
        if source_first(source) then
            found = 1
            break
        end
    end
    sync_all()
    return {is_filled(), spent() and found == 0 and 1 or 0, found}
end
