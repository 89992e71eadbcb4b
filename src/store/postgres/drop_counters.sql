-- store/postgres/drop_counters.sql: queues without tasks need no counters. The rows of several nodes add up to nothing only
-- together, so just those go that could be locked, if they add up to nothing by themselves: no total changes.
WITH idle AS MATERIALIZED (
    SELECT queue
      FROM counter
     GROUP BY queue
    HAVING sum(scheduled) = 0 AND sum(waiting) = 0 AND sum(queued) = 0 AND sum(running) = 0 AND sum(retrying) = 0
       AND sum(completed) = 0 AND sum(failed) = 0 AND sum(cancelled) = 0 AND sum(timeout) = 0
     LIMIT $1
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
