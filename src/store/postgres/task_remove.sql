-- store/postgres/task_remove.sql: finished tasks go for good.

-- name: sweep
-- Finished tasks in order of creation, for retention, and whether their parent is there.
SELECT d.id, d.finished_ms, b.parent IS NOT NULL AND EXISTS (SELECT 1 FROM body p WHERE p.id = b.parent)
  FROM done d
  JOIN body b ON b.id = d.id
 WHERE d.id > $after
 ORDER BY d.id
 LIMIT $most;

-- name: find_families
-- Tasks that are to go, each with all its descendants, if all of them have ended.
-- Locked (remove.c): none comes back to life before they are gone. `members` says how many belong to a root, so
-- that one that just did is noticed. With $by_age only what no task that has not ended depends on goes.
-- Members are counted beside each: a list of roots joined with the list of members looks at every pair. What is looked for by itself
-- has a limit or an offset, else a plan without statistics reads all children there are.
WITH RECURSIVE family AS (
    SELECT b.id AS root, b.id FROM body b WHERE b.id = ANY ($ids::uuid[])
    UNION
    SELECT f.root, c.id FROM family f CROSS JOIN LATERAL (SELECT b.id FROM body b WHERE b.parent = f.id OFFSET 0) c
), member AS (
    SELECT f.root, f.id, count(*) OVER its AS members, count(live.yes) OVER its AS live, count(needed.yes) OVER its AS needed
      FROM family f
      LEFT JOIN LATERAL (SELECT 1 AS yes FROM task t WHERE t.id = f.id LIMIT 1) live ON true
      LEFT JOIN LATERAL (SELECT 1 AS yes FROM dependency x JOIN task w ON w.id = x.id
                          WHERE ($by_age::boolean[])[1] AND x."on" = f.id LIMIT 1) needed ON true
    WINDOW its AS (PARTITION BY f.root)
), ended AS MATERIALIZED (
    SELECT root, members, id FROM member WHERE live = 0 AND needed = 0
)
SELECT e.root, e.members, d.id
  FROM ended e
  JOIN done d ON d.id = e.id
 WHERE d.id = ANY (ARRAY (SELECT id FROM ended))
 ORDER BY e.root, d.id
   FOR UPDATE OF d;

-- name: remove_tasks
-- Finished tasks go for good, with all that belongs to them. Says what was counted.
WITH gone AS (
    DELETE FROM done d USING body b WHERE d.id = ANY ($ids::uuid[]) AND b.id = d.id RETURNING b.queue, d.state
), a AS (
    DELETE FROM attempt WHERE id = ANY ($ids::uuid[])
), l AS (
    DELETE FROM log WHERE id = ANY ($ids::uuid[])
), x AS (
    DELETE FROM dependency WHERE id = ANY ($ids::uuid[]) OR "on" = ANY ($ids::uuid[])
), g AS (
    DELETE FROM tag WHERE id = ANY ($ids::uuid[])
), b AS (
    DELETE FROM body WHERE id = ANY ($ids::uuid[])
)
SELECT queue, state, count(*) FROM gone GROUP BY queue, state;
