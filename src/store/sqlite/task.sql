-- store/sqlite/task.sql: a task as rows: its order, where it stands, how it ended.

-- name: insert_body
-- The orders of new tasks, written once.
-- OR FAIL, because the whole transaction ends where one of these fails: SQLite need not be able to undo the statement alone.
INSERT OR FAIL INTO body (k, lo, type_id, queue_id, created_ms, rest, payload)
SELECT k, lo, type_id, queue_id, created_ms, rest, payload FROM given_body;

-- name: insert_task
-- The hot rows of tasks that are new or have been revived.
INSERT OR FAIL INTO task (k, lo, type_id, queue_id, state, priority, attempt, rest)
SELECT k, lo, type_id, queue_id, state, priority, attempt, rest FROM given_task;

-- name: insert_done
-- Tasks enter the history.
INSERT OR FAIL INTO done (k, state, priority, attempt, finished_ms, rest, result)
SELECT k, state, priority, attempt, finished_ms, rest, result FROM given_done;

-- name: update_task
-- One row, one compare-and-set.
-- No row changed means the caller lost: somebody else moved the task since it was read.
UPDATE task
   SET state = :state, priority = :priority, attempt = :attempt, rest = :rest
 WHERE k = :k AND lo = :lo AND state = :was_state AND attempt = :was_attempt;

-- name: update_tasks
-- The same for many. Every row is there: one that is not is inserted, and save.c takes it away again.
INSERT INTO task (k, lo, type_id, queue_id, state, priority, attempt, rest)
SELECT k, lo, type_id, queue_id, state, priority, attempt, rest FROM given_task WHERE true
ON CONFLICT (k) DO UPDATE
   SET state = excluded.state, priority = excluded.priority, attempt = excluded.attempt, rest = excluded.rest
 WHERE stands(task.lo, task.state, task.attempt);

-- name: delete_task
-- A task leaves the hot table, if it still stands where the caller saw it.
DELETE FROM task
 WHERE k = :k AND lo = :lo AND state = :was_state AND attempt = :was_attempt;

-- name: delete_done
-- A task leaves the history to be revived, if it still stands where the caller saw it.
DELETE FROM done
 WHERE k = :k AND EXISTS (SELECT 1 FROM body WHERE k = :k AND lo = :lo)
   AND state = :was_state AND attempt = :was_attempt;

-- name: load_live
-- A live task with its order.
-- What is longer than :omit_over bytes is not read at all; -1 leaves all payloads and results out.
SELECT b.lo, b.type_id, b.queue_id, b.created_ms, b.rest,
       CASE WHEN length(b.payload) > :omit_over THEN NULL ELSE b.payload END, length(b.payload),
       t.state, t.priority, t.attempt, t.rest
  FROM body b JOIN task t ON t.k = b.k
 WHERE b.k = :k;

-- name: load_done
-- A finished task with its order, as load_live, and how it ended.
-- What is longer than :omit_over bytes is not read at all; -1 leaves all payloads and results out.
SELECT b.lo, b.type_id, b.queue_id, b.created_ms, b.rest,
       CASE WHEN length(b.payload) > :omit_over THEN NULL ELSE b.payload END, length(b.payload),
       d.state, d.priority, d.attempt, d.rest, d.finished_ms,
       CASE WHEN length(d.result) > :omit_over THEN NULL ELSE d.result END, length(d.result)
  FROM body b JOIN done d ON d.k = b.k
 WHERE b.k = :k;

-- name: scan_live
-- What the engine's memory is rebuilt from, in order of creation, from one table.
SELECT k, lo, type_id, queue_id, state, priority, attempt, rest
  FROM task
 ORDER BY k;

-- name: insert_key
-- Take an idempotency key for a new task. No row changed: it is taken.
INSERT INTO key (key, k) VALUES (:key, :k) ON CONFLICT DO NOTHING;

-- name: find_key
-- The task that has this idempotency key.
SELECT key.k, body.lo FROM key JOIN body ON body.k = key.k WHERE key.key = :key;
