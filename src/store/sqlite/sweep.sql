-- store/sqlite/sweep.sql: finished tasks in order of creation, for retention, and whether their parent is there. No
-- index by time is needed: a sweep walks the history in small steps, the next one begins where it stopped, and the walk
-- is over at the first task that was created too late to have ended early enough.
SELECT d.k, b.lo, d.finished_ms, b.parent_hi IS NOT NULL AND EXISTS (SELECT 1 FROM body p WHERE p.k = b.parent_hi),
       b.created_ms
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.k > :cursor
 ORDER BY d.k
 LIMIT :most;
