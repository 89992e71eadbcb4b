-- store/sqlite/check_logs.sql: logs belong to attempts that have started.
SELECT 'attempts', 'task ' || task_id(b.k, b.lo) || ' has a log of attempt ' || l.number || ', which never started'
  FROM log l JOIN body b ON b.k = l.k LEFT JOIN task t ON t.k = l.k LEFT JOIN done d ON d.k = l.k
 WHERE l.number > coalesce(t.attempt, d.attempt, 0)
 GROUP BY l.k, l.number
 LIMIT 20;
