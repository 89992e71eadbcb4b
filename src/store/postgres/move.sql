-- store/postgres/move.sql: everything in a store, row by row, for `errand move`. Each walk goes on behind the last row it gave,
-- along an index: the same plan serves all slices, so "any" is a value before all others and no condition of its own.

-- name: move_identity
-- Which database this is: no other one has all of these in common with it.
SELECT concat_ws('/', (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, inet_server_port(),
                 (SELECT oid FROM pg_database WHERE datname = current_database()), 'meta'::regclass::oid);

-- name: move_users
-- Stores and nodes that have said that they live, but for store $1, and when. Whether they still do, only their next word tells.
SELECT node::text, seen_ms FROM writer WHERE node <> $node
UNION ALL
SELECT encode(id, 'escape'), seen_ms FROM node
ORDER BY 1;

-- name: move_patience
-- A move takes its time, and nobody waits for it but its own process.
SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
       set_config('enable_seqscan', 'on', true);

-- name: move_hold_off
-- Whoever begins to use the store waits from here on, and so does everybody who writes without having said so.
LOCK TABLE writer, mark IN SHARE MODE;

-- name: move_tasks
-- Every task there is, in order of creation, and about how long it is.
SELECT b.id, (coalesce(octet_length(b.payload), 0)
              + coalesce((SELECT octet_length(d.result) FROM done d WHERE d.id = b.id), 0))::bigint
  FROM body b
 WHERE b.id > coalesce($after::uuid, '00000000-0000-0000-0000-000000000000')
 ORDER BY b.id
 LIMIT $most;

-- name: move_attempts
-- Attempts after which their task went on.
SELECT id, number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail
  FROM attempt
 WHERE (id, number) > (coalesce($after::uuid, '00000000-0000-0000-0000-000000000000'), $number::integer)
 ORDER BY id, number
 LIMIT $most;

-- name: move_logs
-- What attempts said, piece by piece.
SELECT id, number, until_byte, text
  FROM log
 WHERE (id, number, until_byte) > (coalesce($after::uuid, '00000000-0000-0000-0000-000000000000'), $number::integer, $until_byte::bigint)
 ORDER BY id, number, until_byte
 LIMIT $most;

-- name: move_dependencies
-- Who depends on whom; what was removed is in nobody's way.
SELECT x.id, x."on"
  FROM dependency x
  JOIN body o ON o.id = x."on"
 WHERE (x.id, x."on") > (coalesce($after::uuid, '00000000-0000-0000-0000-000000000000'), coalesce($on::uuid, '00000000-0000-0000-0000-000000000000'))
 ORDER BY x.id, x."on"
 LIMIT $most;

-- name: move_held
-- Documents that are held, with their holders; not those that are only kept for a function of a node.
SELECT l.document, l.holder, l.batch, l.lock, l.since_ms
  FROM doc_lease l
  JOIN task t ON t.id = l.holder AND t.state = :RUNNING
 WHERE NOT l.kept AND l.document > coalesce($after::bytea, '')
 ORDER BY l.document
 LIMIT $most;

-- name: move_counts
-- How much there is: of tasks by state, of records by kind, and of the rest.
SELECT :MOVED_TASKS, state, count(*) FROM task GROUP BY state
UNION ALL SELECT :MOVED_TASKS, state, count(*) FROM done GROUP BY state
UNION ALL SELECT :MOVED_RECORDS, kind, count(*) FROM record GROUP BY kind
UNION ALL SELECT :MOVED_ATTEMPTS, 0, count(*) FROM attempt
UNION ALL SELECT :MOVED_LOGS, 0, count(*) FROM log
UNION ALL SELECT :MOVED_DEPENDENCIES, 0, count(*) FROM dependency x JOIN body o ON o.id = x."on"
UNION ALL SELECT :MOVED_HELD, 0, count(*) FROM doc_lease l JOIN task t ON t.id = l.holder AND t.state = :RUNNING WHERE NOT l.kept
UNION ALL SELECT :MOVED_QUEUES, 0, count(*) FROM queue
UNION ALL SELECT :MOVED_TOKENS, 0, count(*) FROM token;

-- name: move_log
-- Pieces of logs as they were.
INSERT INTO log (id, number, until_byte, text)
SELECT * FROM @table(c: id uuid, number integer, until_byte bigint, text bytea);

-- name: move_tokens
-- Who may speak to the nodes, in the order in which they came to.
INSERT INTO token (id, line) SELECT id, line FROM @table(c: id bytea, line bytea, n) ORDER BY n;
