-- store/postgres/check_i7_counters.sql: I7: the counters are what counting gives.
WITH counted AS (
    SELECT queue, state, count(*) AS n
      FROM (SELECT queue, state FROM task
            UNION ALL
            SELECT b.queue, d.state FROM done d JOIN body b ON b.id = d.id) x
     GROUP BY queue, state
), kept AS (
    SELECT k.queue, x.state, sum(x.n) AS n
      FROM counter k
     CROSS JOIN LATERAL (VALUES (0, k.scheduled), (1, k.waiting), (2, k.queued), (3, k.running), (4, k.retrying),
                                (5, k.completed), (6, k.failed), (7, k.cancelled), (8, k.timeout)) AS x (state, n)
     GROUP BY k.queue, x.state
    HAVING sum(x.n) <> 0
)
SELECT DISTINCT 'I7', 'the counters of queue ' || queue || ' are not what its rows add up to'
  FROM counted FULL JOIN kept USING (queue, state)
 WHERE counted.n IS DISTINCT FROM kept.n
 LIMIT 20;
