-- store/postgres/list_counts.sql: tasks per queue and state; every queue that has tasks or settings.
SELECT queue, coalesce(sum(scheduled), 0)::bigint, coalesce(sum(waiting), 0)::bigint, coalesce(sum(queued), 0)::bigint,
       coalesce(sum(running), 0)::bigint, coalesce(sum(retrying), 0)::bigint, coalesce(sum(completed), 0)::bigint,
       coalesce(sum(failed), 0)::bigint, coalesce(sum(cancelled), 0)::bigint, coalesce(sum(timeout), 0)::bigint
  FROM counter k
 GROUP BY queue
HAVING sum(scheduled) <> 0 OR sum(waiting) <> 0 OR sum(queued) <> 0 OR sum(running) <> 0 OR sum(retrying) <> 0
    OR sum(completed) <> 0 OR sum(failed) <> 0 OR sum(cancelled) <> 0 OR sum(timeout) <> 0
    OR EXISTS (SELECT 1 FROM queue q WHERE q.name = k.queue)
UNION ALL
SELECT name, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM queue q WHERE NOT EXISTS (SELECT 1 FROM counter k WHERE k.queue = q.name)
 ORDER BY 1;
