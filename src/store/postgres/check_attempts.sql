-- store/postgres/check_attempts.sql: attempts are numbered from 1 to the task's own count, without a gap.
-- The last one is in the task's row while it runs and after the task has ended.
SELECT 'attempts', 'task ' || x.id || ' has started ' || x.attempt || ' attempts, but ' || count(a.number)
                   || ' earlier ones are on record, up to number ' || coalesce(max(a.number), 0)
  FROM (SELECT id, attempt, state = 3 AS tells FROM task
        UNION ALL SELECT id, attempt, true FROM done) x
  LEFT JOIN attempt a ON a.id = x.id
 GROUP BY x.id, x.attempt, x.tells
HAVING count(a.number) <> coalesce(max(a.number), 0)
    OR NOT coalesce(max(a.number), 0) BETWEEN x.attempt - (x.tells AND x.attempt > 0)::integer AND x.attempt
 LIMIT 20;
