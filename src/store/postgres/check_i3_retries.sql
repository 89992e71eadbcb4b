-- store/postgres/check_i3_retries.sql: I3: no task used more retries than it has.
SELECT 'I3', 'task ' || id || ' used ' || retries || ' retries of ' || max_retries
  FROM (SELECT id, retries, max_retries FROM task UNION ALL SELECT id, retries, max_retries FROM done) x
 WHERE max_retries <> -1 AND retries > max_retries
 LIMIT 20;
