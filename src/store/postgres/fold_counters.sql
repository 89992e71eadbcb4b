-- store/postgres/fold_counters.sql: what dead stores counted is added up under node 0. One at a time does it.
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
