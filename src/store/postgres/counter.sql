-- store/postgres/counter.sql: tasks per queue and state.

-- name: count_tasks
-- What a transaction changed in the number of tasks, once for each queue it touched.
INSERT INTO counter AS k (node, queue, scheduled, waiting, queued, running, retrying, completed, failed, cancelled,
                          timeout)
SELECT *
  FROM @table(c: node bigint, queue text, scheduled bigint, waiting bigint, queued bigint, running bigint, retrying bigint, completed bigint, failed bigint, cancelled bigint,
              timeout bigint)
    ON CONFLICT (node, queue) DO UPDATE
   SET scheduled = k.scheduled + excluded.scheduled, waiting = k.waiting + excluded.waiting,
       queued = k.queued + excluded.queued, running = k.running + excluded.running,
       retrying = k.retrying + excluded.retrying, completed = k.completed + excluded.completed,
       failed = k.failed + excluded.failed, cancelled = k.cancelled + excluded.cancelled,
       timeout = k.timeout + excluded.timeout;

-- name: list_counts
-- Tasks per queue and state; every queue that has tasks or settings.
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

-- name: fold_counters
-- What dead stores counted is added up under node 0. One at a time does it.
WITH mine AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(x'45727264'::integer, 2) AS mine
), gone AS (
    DELETE FROM counter k
     WHERE k.node <> 0 AND (SELECT mine FROM mine) AND NOT EXISTS (SELECT 1 FROM writer w WHERE w.node = k.node)
    RETURNING *
)
INSERT INTO counter AS k (node, queue, scheduled, waiting, queued, running, retrying, completed, failed, cancelled,
                          timeout)
SELECT 0, queue, sum(scheduled), sum(waiting), sum(queued), sum(running), sum(retrying), sum(completed), sum(failed),
       sum(cancelled), sum(timeout)
  FROM gone
 GROUP BY queue
    ON CONFLICT (node, queue) DO UPDATE
   SET scheduled = k.scheduled + excluded.scheduled, waiting = k.waiting + excluded.waiting,
       queued = k.queued + excluded.queued, running = k.running + excluded.running,
       retrying = k.retrying + excluded.retrying, completed = k.completed + excluded.completed,
       failed = k.failed + excluded.failed, cancelled = k.cancelled + excluded.cancelled,
       timeout = k.timeout + excluded.timeout;

-- name: drop_counters
-- Queues without tasks need no counters. The rows of several nodes add up to nothing only
-- together, so just those go that could be locked, if they add up to nothing by themselves: no total changes.
WITH idle AS MATERIALIZED (
    SELECT queue
      FROM counter
     GROUP BY queue
    HAVING sum(scheduled) = 0 AND sum(waiting) = 0 AND sum(queued) = 0 AND sum(running) = 0 AND sum(retrying) = 0
       AND sum(completed) = 0 AND sum(failed) = 0 AND sum(cancelled) = 0 AND sum(timeout) = 0
     LIMIT $most
), held AS MATERIALIZED (
    SELECT * FROM counter WHERE queue IN (SELECT queue FROM idle) FOR UPDATE SKIP LOCKED
), empty AS (
    SELECT queue
      FROM held
     GROUP BY queue
    HAVING sum(scheduled) = 0 AND sum(waiting) = 0 AND sum(queued) = 0 AND sum(running) = 0 AND sum(retrying) = 0
       AND sum(completed) = 0 AND sum(failed) = 0 AND sum(cancelled) = 0 AND sum(timeout) = 0
)
DELETE FROM counter k
 USING held h, empty e
 WHERE k.node = h.node AND k.queue = h.queue AND e.queue = h.queue
RETURNING k.queue;
