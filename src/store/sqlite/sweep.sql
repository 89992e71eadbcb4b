-- store/sqlite/sweep.sql: finished tasks in order of creation, for retention, and whether their parent is there. No
-- index by time is needed: a sweep walks the history in small steps, and the next one begins where it stopped.
SELECT d.k, b.lo, d.finished_ms, b.parent_hi IS NOT NULL AND EXISTS (SELECT 1 FROM body p WHERE p.k = b.parent_hi)
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.k > :cursor
 ORDER BY d.k
 LIMIT :most;
