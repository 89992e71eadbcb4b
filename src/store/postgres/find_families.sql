-- store/postgres/find_families.sql: tasks that are to go, each with all its descendants, if all of them have ended.
-- Locked (lock in remove.c): none comes back to life before they are gone. `members` says how many belong to a root, so
-- that one that just did is noticed. By age ($2) only what no task that has not ended depends on goes.
WITH RECURSIVE family AS (
    SELECT b.id AS root, b.id FROM body b WHERE b.id = ANY ($1::uuid[])
    UNION
    SELECT f.root, b.id FROM family f JOIN body b ON b.parent = f.id
), whole AS (
    SELECT f.root, count(*) AS members
      FROM family f
      LEFT JOIN task t ON t.id = f.id
      LEFT JOIN LATERAL (SELECT 1 AS yes FROM dependency x JOIN task w ON w.id = x.id
                          WHERE ($2::boolean[])[1] AND x."on" = f.id LIMIT 1) needed ON true
     GROUP BY f.root
    HAVING count(t.id) = 0 AND count(needed.yes) = 0
)
SELECT w.root, w.members, d.id
  FROM whole w
  JOIN family f ON f.root = w.root
  JOIN done d ON d.id = f.id
 ORDER BY w.root, d.id
   FOR UPDATE OF d;
