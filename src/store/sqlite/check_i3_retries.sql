-- store/sqlite/check_i3_retries.sql: I3: no task used more retries than it has.
SELECT 'I3', 'task ' || task_id(b.k, b.lo) || ' used ' || x.retries || ' retries of ' || x.max_retries
  FROM (SELECT k, retries, max_retries FROM task UNION ALL SELECT k, retries, max_retries FROM done) x
  JOIN body b ON b.k = x.k
 WHERE x.max_retries <> -1 AND x.retries > x.max_retries
 LIMIT 20;
