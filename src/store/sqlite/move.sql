-- store/sqlite/move.sql: everything in a store, row by row, for `errand move`. Each walk goes on behind the last row it gave.

-- name: move_tasks
-- Every task there is, in order of creation.
SELECT k FROM body WHERE k > :after ORDER BY k LIMIT :most;

-- name: move_attempts
-- Attempts after which their task went on.
SELECT a.k, b.lo, a.number, a.outcome, a.worker, a.started_ms, a.finished_ms, a.error_code, a.error_message, a.error_detail
  FROM attempt a JOIN body b ON b.k = a.k
 WHERE (a.k, a.number) > (:k, :number)
 ORDER BY a.k, a.number
 LIMIT :most;

-- name: move_logs
-- What attempts said, piece by piece.
SELECT l.k, b.lo, l.number, l.until_byte, l.text
  FROM log l JOIN body b ON b.k = l.k
 WHERE (l.k, l.number, l.until_byte) > (:k, :number, :until_byte)
 ORDER BY l.k, l.number, l.until_byte
 LIMIT :most;

-- name: move_dependencies
-- Who depends on whom; what was removed is in nobody's way.
SELECT x.k, b.lo, x.on_k, o.lo
  FROM dependency x JOIN body b ON b.k = x.k JOIN body o ON o.k = x.on_k
 WHERE (x.k, x.on_k) > (:k, :on_k)
 ORDER BY x.k, x.on_k
 LIMIT :most;

-- name: move_held
-- Documents that are held, with their holders.
SELECT l.document, l.k, l.batch
  FROM doc_lease l JOIN task t ON t.k = l.k AND t.state = :RUNNING
 WHERE l.document > :after
 ORDER BY l.document
 LIMIT :most;

-- name: move_counts
-- How much there is: of tasks by state, of records by kind, and of the rest.
SELECT :MOVED_TASKS, state, count(*) FROM task GROUP BY state
UNION ALL SELECT :MOVED_TASKS, state, count(*) FROM done GROUP BY state
UNION ALL SELECT :MOVED_RECORDS, kind, count(*) FROM record GROUP BY kind
UNION ALL SELECT :MOVED_ATTEMPTS, 0, count(*) FROM attempt a JOIN body b ON b.k = a.k
UNION ALL SELECT :MOVED_LOGS, 0, count(*) FROM log l JOIN body b ON b.k = l.k
UNION ALL SELECT :MOVED_DEPENDENCIES, 0, count(*) FROM dependency x JOIN body b ON b.k = x.k JOIN body o ON o.k = x.on_k
UNION ALL SELECT :MOVED_HELD, 0, count(*) FROM doc_lease l JOIN task t ON t.k = l.k AND t.state = :RUNNING
UNION ALL SELECT :MOVED_QUEUES, 0, count(*) FROM queue;

-- name: move_log
-- A piece of a log as it was.
INSERT INTO log (k, number, until_byte, text) VALUES (:k, :number, :until_byte, :text);
