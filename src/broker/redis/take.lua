-- broker/redis/take.lua: claims: the best tasks of the wanted queues and types, in one line.
--
-- A claim looks at sources: one lane when it names queue and type, a queue's registry when it takes any type, a type's
-- or the whole registry when it takes any queue; and for each of them another where documents stand. They stand in a
-- line, best last, by the score and id of their first. A registry that comes to the end of the line is opened: the lane
-- or scope of its first entry becomes a source, and the next entry its first.
--
-- Lanes are read in pieces and what was taken of them leaves in one step at the end, so that a task without a document
-- costs a fraction of a command. Tasks with documents leave one by one, since each holds its document for the others:
-- meanwhile the first of a source can only become later, and looking again when it comes to the end of the line is
-- enough. SPDX-License-Identifier: MIT
local PIECE = 8       -- entries of a registry looked at together
local READ_FIRST = 16 -- entries of a lane read at first where others are in line, and then four times as many
local STEPS_MAX = 100 -- tasks with documents that one call takes or parks; whoever sent it calls again for the rest

local steps_left = STEPS_MAX
local opened = {} -- lanes that this call has read from
local stale = {}  -- {registry, entry} of which the line itself knows nothing

-- The call has done enough: what it found so far is right, but there may be more.
local function spent()
    return steps_left <= 0
end

-- MAX ANY QUEUES [QUEUE ROOM]… [TYPE]…, from ARGV[2] on.
local function want_read()
    local want = {max = tonumber(ARGV[2]), sources = {}}
    local named, types, first_type = {}, {}, 5 + 2 * tonumber(ARGV[4])
    local function add(source)
        want.sources[#want.sources + 1] = source
    end
    for i = first_type, #ARGV do
        types[ARGV[i]] = true -- one that was named twice is one
    end
    local any_type = next(types) == nil
    for i = 5, first_type - 1, 2 do
        local queue, room = ARGV[i], {left = tonumber(ARGV[i + 1])}
        if any_type and not named[queue] then
            add({registry = 'queue:' .. queue, room = room})
            add({scope = queue, room = room})
        end
        for kind in pairs(named[queue] and {} or types) do
            local lane = queue .. ' ' .. kind
            add({lane = lane, room = room})
            add({scope = lane, room = room})
        end
        named[queue] = true
    end
    if ARGV[3] == '1' and any_type then
        add({registry = 'all', others = named})
        add({registry = 'docall', documents = true, others = named})
    elseif ARGV[3] == '1' then
        for kind in pairs(types) do
            add({registry = 'type:' .. kind, others = named})
            add({registry = 'doctype:' .. kind, documents = true, others = named})
        end
    end
    return want
end

-- ---- The first of a source: its .score and .id. False: there is none ----

-- The next entry and score of what was read of a sorted set, which is read on, a piece at a time, from .next.
local function read_on(source, key, piece)
    if not source.entries or source.at >= #source.entries then
        if source.over then
            return nil
        end
        source.next = source.next or 0
        source.entries = redis.call('ZRANGE', base .. key, source.next, source.next + piece - 1, 'WITHSCORES')
        source.next = source.next + piece
        source.over = #source.entries < 2 * piece
        source.at = 0
    end
    return source.entries[source.at + 1], source.entries[source.at + 2]
end

-- Nothing is read that could not be taken: a lane that stands alone gives all that is wanted, in one piece.
local function lane_first(source)
    if not source.taken then
        local most = math.min(tonumber(ARGV[2]), source.room and source.room.left or math.huge)
        source.taken, source.piece = 0, math.max(1, source.alone and most or math.min(READ_FIRST, most))
        source.line = 'lane:' .. source.lane
        opened[#opened + 1] = source
    end
    local id, score = read_on(source, source.line, source.piece)
    if id ~= source.id then -- it is looked at more often than it changes
        source.id, source.score = id, tonumber(score)
    end
    if not id and source.taken == 0 and redis.call('HEXISTS', HEADS, source.line) == 1 then
        lost() -- it was thrown away
        touched[source.line] = true
    end
    return id ~= nil
end

-- Tasks of held documents are parked.
local function scope_first(source)
    while not spent() do
        local entry, score = line_first(line_of(source.scope))
        if not entry then
            return false
        end
        source.score, source.id, source.document = tonumber(score), string.sub(entry, 1, ID), string.sub(entry, ID + 2)
        if not is_held(source.document) then
            return true
        end
        steps_left = steps_left - 1
        park(source.scope, source.document, source.id)
    end
    return false
end

-- Entries of queues that were left out are passed over.
local function registry_first(source)
    while true do
        local entry, score = read_on(source, source.registry, PIECE)
        if not entry then
            return false
        end
        if not (source.others and source.others[string.match(entry, '^%S+ (%S*)')]) then
            source.entry, source.score, source.id = entry, tonumber(score), string.sub(entry, 1, ID)
            return true
        end
        source.at = source.at + 2
    end
end

local function source_first(source)
    if source.room and source.room.left <= 0 then
        return false
    end
    return (source.registry and registry_first or source.scope and scope_first or lane_first)(source)
end

-- ---- The line of sources ----

local function before(a, b)
    return a.score < b.score or (a.score == b.score and a.id < b.id)
end

local function line_insert(line, source)
    local low, high = 1, #line + 1
    while low < high do
        local middle = math.floor((low + high) / 2)
        if before(line[middle], source) then
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
        source.alone = #want.sources == 2 -- the other is that of its documents
        if source_first(source) then
            line[#line + 1] = source
        end
    end
    table.sort(line, function(a, b) return before(b, a) end)
    return line
end

-- What stands behind the first entry of a registry becomes a source of its own. The registry of all queues has one
-- entry for each of them, whose lanes only the queue's own registry knows.
local function registry_open(line, registry)
    local entry, of = registry.entry, string.sub(registry.entry, ID + 2)
    local source = {room = registry.room}
    if registry.documents then
        source.scope = of
    elseif registry.registry == 'all' then
        source.registry = 'queue:' .. string.match(of, '^%S*')
    else
        source.lane = of
    end
    local id = registry.id
    registry.at = registry.at + 2
    if registry_first(registry) then
        line_insert(line, registry)
    end
    source.alone = #line == 0
    local found = source_first(source)
    if found then
        line_insert(line, source)
    end
    if (not found or source.id ~= id) and not spent() and not (source.scope and touched[line_of(source.scope)]) then
        lost()
        stale[#stale + 1] = {registry.registry, entry}
    end
end

-- The lane or scope whose first is the best of all; it stays the last of the line. Nothing: there is none, or the call
-- is spent.
local function line_best(line)
    while #line > 0 and not spent() do
        local source = line[#line]
        local score, id = source.score, source.id
        if not source_first(source) then
            if not spent() then
                table.remove(line)
            end
        elseif source.score ~= score or source.id ~= id then
            table.remove(line)
            line_insert(line, source)
        elseif source.registry then
            table.remove(line)
            registry_open(line, source)
        else
            return source
        end
    end
end

-- Lanes lose what was taken from them, registries what was wrong there.
local function line_end()
    for _, source in ipairs(opened) do
        if source.taken > 0 then
            touched[source.line] = true
            redis.call('ZREMRANGEBYRANK', base .. source.line, '0', source.taken - 1)
        end
    end
    for _, pair in ipairs(stale) do
        redis.call('ZREM', base .. pair[1], pair[2])
    end
    sync_all(lane_of)
end

-- ---- Taking ----

-- The hint of a source's first was thrown away.
local function forget(source)
    lost()
    redis.call('ZREM', row_of(source.scope, source.document), source.id)
    step_out(line_of(source.scope), source.id .. ' ' .. source.document)
    stand_first(source.scope, source.document)
end

-- A run: tasks of one lane, and of one document or of none. They are one text: two for each task would cost Redis and
-- whoever asked more than finding them.
local function run_add(out, lane, document, tasks)
    local n = #out
    out[n + 1], out[n + 2], out[n + 3] = lane, document, tasks
end

-- Appends LANE DOCUMENT "ID SCORE". Returns how many were taken.
local function take_of_document(source, out)
    local hint = hint_read(source.id)
    steps_left = steps_left - 1
    if not hint or hint.document ~= source.document then
        forget(source)
        return 0
    end
    hold(hint.document, hint.id)
    leave(hint)
    run_add(out, hint.lane, '=' .. hint.document, hint.id .. string.format(' %.0f', hint.score))
    return 1
end

-- Does the first of another source come before the task that was read at `i`?
local function is_behind(rival, entries, i)
    local score = tonumber(entries[i + 1])
    return rival.score < score or (rival.score == score and rival.id < entries[i])
end

-- How many of the next `most` that were read of a lane come before `rival`: the first of them does, and either few more
-- do, where lanes take turns, or all.
local function count_before(rival, entries, at, most)
    local n = 1
    while n < most and not is_behind(rival, entries, at + 2 * n + 1) do
        n = n + 1
        if n == 2 and not is_behind(rival, entries, at + 2 * most - 1) then
            return most
        end
    end
    return n
end

-- Appends LANE "" "ID SCORE ID SCORE…": what was read of the lane, up to the first of the next best source, `rival`.
local function take_of_lane(source, rival, most, out)
    local entries, at = source.entries, source.at
    local n = math.min(most, (#entries - at) / 2)
    if rival then
        n = count_before(rival, entries, at, n)
    end
    run_add(out, source.lane, '', table.concat(entries, ' ', at + 1, at + 2 * n))
    source.at, source.taken = at + 2 * n, source.taken + n
    if n < most then
        if source.at == #entries then
            source.piece = math.min(rival and 4 * source.piece or most, most - n)
        end
        lane_first(source)
    end
    return n
end

-- take MAX ANY QUEUES …: is it filled, is there more to look at (ask again for the rest), then what was taken. Not
-- filled: nothing.
local function take()
    local out = {is_filled(), 0}
    if out[1] == 0 then
        return out
    end
    local want = want_read()
    local line, left = line_begin(want), want.max
    local source = left > 0 and line_best(line)
    while source do
        local most = source.room and math.min(left, source.room.left) or left
        local n
        if source.scope then
            n = take_of_document(source, out)
        else
            n = take_of_lane(source, line[#line - 1], most, out)
            table.remove(line)
            if source.id then
                line_insert(line, source)
            end
        end
        left = left - n
        if source.room then
            source.room.left = source.room.left - n
        end
        source = left > 0 and line_best(line)
    end
    line_end()
    out[2] = spent() and left > 0 and 1 or 0
    return out
end

-- has MAX ANY QUEUES …: is it filled, is there more to look at, could something be taken.
local function has()
    local found = line_best(line_begin(want_read())) and 1 or 0
    line_end()
    return {is_filled(), spent() and found == 0 and 1 or 0, found}
end
