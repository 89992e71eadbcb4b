-- store/postgres/message.sql: messages between nodes while there is no Redis.

-- name: lock_messages
-- One node tells at a time, so that messages appear in the order of their numbers.
SELECT pg_advisory_xact_lock(x'45727264'::integer, 3);

-- name: insert_messages
-- Messages to whoever reads them.
INSERT INTO message (sender, body, at_ms)
SELECT sender, body, @now_ms
  FROM @table(c: sender bytea, body bytea, n)
 ORDER BY n;

-- name: list_messages
-- Messages behind a number.
SELECT number, sender, body FROM message WHERE number > $after ORDER BY number LIMIT $most;

-- name: forget_messages
-- Messages older than $1 milliseconds go.
DELETE FROM message WHERE at_ms < @now_ms - $older_than_ms;
