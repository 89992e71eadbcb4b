-- store/sqlite/task_remove.sql: finished tasks go for good.

-- name: sweep
-- Finished tasks in order of creation, for retention, and whether their parent is there. No
-- index by time is needed: a sweep walks the history in small steps, the next one begins where it stopped, and the walk
-- is over at the first task that was created too late to have ended early enough.
SELECT d.k, b.lo, d.finished_ms, EXISTS (SELECT 1 FROM body p WHERE p.k = packed(b.rest, :PACKED_parent)),
       b.created_ms
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.k > :cursor
 ORDER BY d.k
 LIMIT :most;

-- name: find_remains
-- What else has to go when this finished task goes.
SELECT b.queue_id, d.state, b.rest
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.k = :k AND b.lo = :lo;

-- name: list_branch
-- The children of a task that is to go, and whether each is still live.
SELECT c.k, b.lo, t.k IS NOT NULL
  FROM child c JOIN body b ON b.k = c.k LEFT JOIN task t ON t.k = c.k
 WHERE c.parent_k = :k;

-- name: is_needed
-- Does a task that has not ended depend on this one?
SELECT 1 FROM dependency x JOIN task t ON t.k = x.k WHERE x.on_k = :k LIMIT 1;

-- name: forget_body
-- A finished task is removed for good.
DELETE FROM body WHERE k = :k;

-- name: forget_done
-- A finished task is removed for good.
DELETE FROM done WHERE k = :k;

-- name: delete_key
-- A key is free when its task is gone.
DELETE FROM key WHERE key = :key AND k = :k;

-- name: delete_attempts
-- They go with their task.
DELETE FROM attempt WHERE k = :k;

-- name: delete_log
-- It goes with its task.
DELETE FROM log WHERE k = :k;

-- name: delete_child
-- It goes with its task.
DELETE FROM child WHERE parent_k = :parent_k AND k = :k;

-- name: delete_dependencies
-- What a task depended on is forgotten with it.
DELETE FROM dependency WHERE k = :k;

-- name: delete_dependents
-- Nobody depends any longer on a task that goes.
DELETE FROM dependency WHERE on_k = :k;

-- name: keep_last_k
-- Remember the highest key although its task goes.
UPDATE meta SET last_k = max(last_k, :k);
