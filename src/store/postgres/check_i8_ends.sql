-- store/postgres/check_i8_ends.sql: I8: every history can come to an end. A parent is open exactly as long as something in
-- it can still run, the first child that has not ended has its turn and nobody else, and whoever waits for others counts
-- those that stand in its way, at least one. While a task that many wait for is followed in slices (a record of kind 8)
-- some of those have not been told yet. A team's hold has no children: its team ends it.
WITH family AS (
    SELECT p.id, p.state, p.cancel_requested,
           (SELECT c.id FROM body c JOIN task x ON x.id = c.id WHERE c.parent = p.id ORDER BY c.id LIMIT 1) AS next
      FROM task p
      JOIN body b ON b.id = p.id
     WHERE p.container AND b.team IS NULL
), open AS (
    SELECT t.id, t.unmet,
           (SELECT count(*)
              FROM dependency x
              LEFT JOIN task o ON o.id = x."on"
              LEFT JOIN done d ON d.id = x."on"
             WHERE x.id = t.id
               AND CASE WHEN b.runs_anyway THEN o.id IS NOT NULL ELSE d.state IS DISTINCT FROM 5 END) AS stand
      FROM task t
      JOIN body b ON b.id = t.id
     WHERE t.state = 1 AND b.parent IS NULL AND NOT EXISTS (SELECT 1 FROM record WHERE kind = 8)
)
(SELECT 'I8', 'task ' || f.id || ' is open, and none of its children can still run' FROM family f WHERE f.next IS NULL LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || t.id || ' has not ended, but its parent has'
   FROM task t
   JOIN body b ON b.id = t.id
  WHERE b.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM task p WHERE p.id = b.parent)
  LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || t.id || ' waits for its turn, which has come'
   FROM family f
   JOIN task t ON t.id = f.next
  WHERE f.state IN (2, 3) AND NOT f.cancel_requested AND t.state = 1
  LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || t.id || ' may run, but it is not its turn'
   FROM family f
   JOIN body b ON b.parent = f.id
   JOIN task t ON t.id = b.id
  WHERE t.state <> 1 AND (f.state NOT IN (2, 3) OR t.id <> f.next)
  LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || o.id || ' waits for ' || o.unmet || ' dependencies, and ' || o.stand || ' stand in its way'
   FROM open o
  WHERE o.unmet = 0 OR o.unmet <> o.stand
  LIMIT 20);
