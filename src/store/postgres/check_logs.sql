-- store/postgres/check_logs.sql: logs belong to attempts that have started.
SELECT DISTINCT 'attempts', 'task ' || l.id || ' has a log of attempt ' || l.number || ', which never started'
  FROM log l
  LEFT JOIN task t ON t.id = l.id
  LEFT JOIN done d ON d.id = l.id
 WHERE l.number > coalesce(t.attempt, d.attempt, 0)
 LIMIT 20;
