-- store/sqlite/check_i7_counters.sql: I7: the counters are what counting gives.
WITH rows AS (
    SELECT queue_id, state FROM task
    UNION ALL
    SELECT b.queue_id, d.state FROM done d JOIN body b ON b.k = d.k
), counted AS (
    SELECT queue_id, sum(state = 0) AS scheduled, sum(state = 1) AS waiting, sum(state = 2) AS queued,
           sum(state = 3) AS running, sum(state = 4) AS retrying, sum(state = 5) AS completed,
           sum(state = 6) AS failed, sum(state = 7) AS cancelled, sum(state = 8) AS timeout
      FROM rows
     GROUP BY queue_id
), kept AS (
    SELECT queue_id, scheduled, waiting, queued, running, retrying, completed, failed, cancelled, timeout
      FROM counter
     WHERE scheduled | waiting | queued | running | retrying | completed | failed | cancelled | timeout <> 0
)
SELECT 'I7', 'the counters of queue ' || coalesce((SELECT text FROM name WHERE id = queue_id), queue_id)
             || ' are not what its rows add up to'
  FROM (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)
        UNION
        SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted))
 GROUP BY queue_id
 LIMIT 20;
