-- store/postgres/task_load.sql: tasks by id and by key, and all that are live.

-- name: load_live
-- Live tasks with their orders.
-- What is longer than omit_over bytes is not read at all; -1 leaves the payload out. In order of ids, because whoever
-- loads to change locks them too (PG_LOCK_LIVE), and two who lock in one order never wait for each other.
SELECT k.n, @order(b.),
       CASE WHEN octet_length(b.payload) > k.omit_over THEN NULL ELSE b.payload END,
       b.payload IS NOT NULL, @standing(t.), t.awaited, t.depends
  FROM @table(k: id uuid, omit_over bigint, n)
  JOIN task t ON t.id = k.id AND t.id = ANY ($id)
  JOIN body b ON b.id = t.id
 ORDER BY t.id

-- name: load_done
-- Finished tasks with their orders, as load_live, and how they ended.
SELECT k.n, @order(b.),
       CASE WHEN octet_length(b.payload) > k.omit_over THEN NULL ELSE b.payload END,
       b.payload IS NOT NULL, @standing(d.),
       @end(d., result = CASE WHEN octet_length(d.result) > k.omit_over THEN NULL ELSE d.result END), d.result IS NOT NULL
  FROM @table(k: id uuid, omit_over bigint, n)
  JOIN done d ON d.id = k.id AND d.id = ANY ($id)
  JOIN body b ON b.id = d.id
 ORDER BY d.id

-- name: find_keys
-- The tasks that have these idempotency keys.
SELECT k.n, b.id
  FROM @table(k: key bytea, n)
  JOIN body b ON b.key = k.key AND b.key IS NOT NULL AND b.key = ANY ($key);

-- name: find_bodies
-- Which of these tasks exist at all: one that is in neither table was just moving.
SELECT id FROM body WHERE id = ANY ($ids::uuid[]);

-- name: find_ties
-- Which of these tasks others depend on (true), and which depend on others (false).
-- Of finished ones: a live one's row says it itself. Asked behind a load, when the rows are locked: whoever wants to depend on one of
-- them has to wait for its lock.
SELECT DISTINCT "on", true FROM dependency WHERE "on" = ANY ($ids::uuid[])
UNION ALL
SELECT DISTINCT id, false FROM dependency WHERE id = ANY ($ids::uuid[]);

-- name: scan_live
-- Live tasks in order of creation, a page at a time.
SELECT b.id, b.type, b.queue, b.document, b.parent, b.batch, b.container, b.continues, b.runs_anyway, b.expires_ms,
       @standing(t.)
  FROM task t
  JOIN body b ON b.id = t.id
 WHERE $after::uuid IS NULL OR t.id > $after
 ORDER BY t.id
 LIMIT $most;
