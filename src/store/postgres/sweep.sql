-- store/postgres/sweep.sql: finished tasks in order of creation, for retention, and whether their parent is there.
SELECT d.id, d.finished_ms, b.parent IS NOT NULL AND EXISTS (SELECT 1 FROM body p WHERE p.id = b.parent)
  FROM done d
  JOIN body b ON b.id = d.id
 WHERE d.id > $1
 ORDER BY d.id
 LIMIT $2;
