-- broker/redis/change.lua: what a batch changes, in its order. SPDX-License-Identifier: MIT

-- Those of ARGV[from], ARGV[from + step], … that are known with a document leave its rows. They are few, and in most
-- fleets there are none: one question then answers for all of them.
local function leave_documents(from, to, step)
    if redis.call('EXISTS', HINTS) == 0 then
        return
    end
    local ids = {}
    for i = from, to, step do
        ids[#ids + 1] = ARGV[i]
    end
    for i, text in ipairs(redis.call('HMGET', HINTS, unpack(ids))) do
        if text then
            leave(hint_parse(ids[i], text))
        end
    end
end

-- Each verb is given the places of its first and last argument in ARGV.
local changes = {}

-- QUEUE TYPE [SCORE ID]…: tasks without a document. One that is known moves.
function changes.offer(from, to)
    local line = 'lane:' .. ARGV[from] .. ' ' .. ARGV[from + 1]
    leave_documents(from + 3, to, 2)
    touched[line] = true
    redis.call('ZADD', base .. line, unpack(ARGV, from + 2, to))
end

-- QUEUE TYPE [ID]…: no longer ready, or living on the other half.
function changes.withdraw(from, to)
    local line = 'lane:' .. ARGV[from] .. ' ' .. ARGV[from + 1]
    leave_documents(from + 2, to, 1)
    if redis.call('ZREM', base .. line, unpack(ARGV, from + 2, to)) > 0 then
        touched[line] = true
    end
end

-- ID SCORE QUEUE TYPE DOCUMENT. A task that is offered does not run: if it holds its document, the node that took it
-- died before it could say more. Leaving and joining again also mends what Redis threw away.
function changes.offer_of_document(from)
    local hint = hint_new(ARGV[from], ARGV[from + 1], ARGV[from + 2], ARGV[from + 3], ARGV[from + 4])
    local was = hint_read(hint.id)
    if was then
        leave(was)
    elseif redis.call('ZREM', base .. 'lane:' .. hint.lane, hint.id) == 1 then
        touched['lane:' .. hint.lane] = true
    end
    let_go(hint.document, hint.id, '')
    join(hint)
end

function changes.hold(from)
    hold(ARGV[from], ARGV[from + 1])
end

function changes.let_go(from)
    let_go(ARGV[from], ARGV[from + 1], ARGV[from + 2])
end

function changes.yield(from)
    yield(ARGV[from], ARGV[from + 1], ARGV[from + 2])
end

-- One message tells the other nodes which queues have something better than before.
local QUEUES_MAX = 64 -- more are told as "*"

local function wake_others(channel, node)
    local words, told = {node}, {}
    for lane in pairs(better) do
        local queue = string.match(lane, '^%S*')
        if not told[queue] then
            told[queue] = true
            words[#words + 1] = queue
        end
    end
    local message = #words > QUEUES_MAX + 1 and node .. ' *' or table.concat(words, ' ')
    redis.call('PUBLISH', channel, message)
end

-- change LOST CHANNEL NODE [VERB COUNT ARG…]…: is it filled, is more to be done (call again, without a change), and the
-- lanes where somebody should look again. LOST: earlier changes of the sender did not arrive. CHANNEL: where other
-- nodes hear of those lanes; "": the sender tells them.
local function change()
    if ARGV[2] == '1' then
        lost()
    end
    local at = 5
    while ARGV[at] do
        local to = at + 1 + tonumber(ARGV[at + 1])
        changes[ARGV[at]](at + 2, to)
        at = to + 1
    end
    local more = thaw_rest() and 1 or 0
    sync_all(lane_of)
    local out = {is_filled(), more}
    for lane in pairs(better) do
        out[#out + 1] = lane
    end
    if #out > 2 and out[1] == 1 and ARGV[3] ~= '' then
        wake_others(ARGV[3], ARGV[4])
    end
    return out
end
