-- store/sqlite/check_i8_ends.sql: I8: every history can come to an end. A parent is open exactly as long as something in it
-- can still run, the first child that has not ended has its turn and nobody else, and whoever waits for others counts
-- those that stand in its way, at least one. While a task that many wait for is followed in slices (a record of kind 8)
-- some of those have not been told yet. A team's hold has no children: its team ends it.
WITH family AS (
    SELECT p.k, p.lo, p.state, p.cancel_requested,
           (SELECT min(c.k) FROM child c JOIN task x ON x.k = c.k WHERE c.parent_k = p.k) AS next
      FROM task p JOIN body b ON b.k = p.k
     WHERE p.container = 1 AND b.team_hi IS NULL
)
SELECT 'I8', 'task ' || task_id(f.k, f.lo) || ' is open, and none of its children can still run'
  FROM family f
 WHERE f.next IS NULL
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' has not ended, but its parent has'
  FROM task t
 WHERE t.parent_hi <> 0 AND NOT EXISTS (SELECT 1 FROM task p WHERE p.k = t.parent_hi)
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' waits for its turn, which has come'
  FROM family f JOIN task t ON t.k = f.next
 WHERE f.state IN (2, 3) AND f.cancel_requested = 0 AND t.state = 1
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' may run, but it is not its turn'
  FROM family f JOIN task t ON t.parent_hi = f.k
 WHERE t.state <> 1 AND (f.state NOT IN (2, 3) OR t.k <> f.next)
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' waits for ' || t.unmet || ' dependencies, and '
             || (SELECT count(*) FROM dependency x LEFT JOIN task o ON o.k = x.on_k LEFT JOIN done d ON d.k = x.on_k
                  WHERE x.k = t.k AND iif(t.runs_anyway, o.k IS NOT NULL, d.state IS NOT 5)) || ' stand in its way'
  FROM task t
 WHERE t.state = 1 AND t.parent_hi = 0 AND NOT EXISTS (SELECT 1 FROM record WHERE kind = 8)
   AND (t.unmet = 0
        OR t.unmet <> (SELECT count(*) FROM dependency x LEFT JOIN task o ON o.k = x.on_k LEFT JOIN done d ON d.k = x.on_k
                        WHERE x.k = t.k AND iif(t.runs_anyway, o.k IS NOT NULL, d.state IS NOT 5)))
 LIMIT 20;
