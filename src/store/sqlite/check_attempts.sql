-- store/sqlite/check_attempts.sql: attempts are numbered from 1 to the task's own count, without a gap.
-- The last one is in the task's row while it runs and after the task has ended.
SELECT 'attempts', 'task ' || task_id(b.k, b.lo) || ' has started ' || x.attempt || ' attempts, but '
                   || count(a.number) || ' earlier ones are on record, up to number ' || coalesce(max(a.number), 0)
  FROM (SELECT k, attempt, state = 3 AS tells FROM task
        UNION ALL SELECT k, attempt, 1 FROM done) x
  JOIN body b ON b.k = x.k LEFT JOIN attempt a ON a.k = x.k
 GROUP BY x.k
HAVING count(a.number) <> coalesce(max(a.number), 0)
    OR NOT coalesce(max(a.number), 0) BETWEEN x.attempt - (x.tells AND x.attempt > 0) AND x.attempt
 LIMIT 20;
