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
WITH RECURSIVE family AS (
    SELECT b.id AS root, b.id FROM body b WHERE b.id = ANY ($ids::uuid[])
    UNION
    SELECT f.root, b.id FROM family f JOIN body b ON b.parent = f.id
), whole AS (
    SELECT f.root, count(*) AS members
      FROM family f
      LEFT JOIN task t ON t.id = f.id
      LEFT JOIN LATERAL (SELECT 1 AS yes FROM dependency x JOIN task w ON w.id = x.id
                          WHERE ($by_age::boolean[])[1] AND x."on" = f.id LIMIT 1) needed ON true
     GROUP BY f.root
    HAVING count(t.id) = 0 AND count(needed.yes) = 0
)
SELECT w.root, w.members, d.id
  FROM whole w
  JOIN family f ON f.root = w.root
  JOIN done d ON d.id = f.id
 ORDER BY w.root, d.id
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
