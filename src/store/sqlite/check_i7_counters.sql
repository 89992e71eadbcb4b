-- store/sqlite/check_i7_counters.sql: I7: the counters are what counting gives. Those of live tasks are not in the file.
WITH counted AS (
    SELECT b.queue_id, sum(d.state = 5) AS completed, sum(d.state = 6) AS failed, sum(d.state = 7) AS cancelled,
           sum(d.state = 8) AS timeout
      FROM done d JOIN body b ON b.k = d.k
     GROUP BY b.queue_id
), kept AS (
    SELECT queue_id, completed, failed, cancelled, timeout
      FROM ended
     WHERE completed | failed | cancelled | timeout <> 0
)
SELECT 'I7', 'the counters of queue ' || coalesce((SELECT text FROM name WHERE id = queue_id), queue_id)
             || ' are not what its rows add up to'
  FROM (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)
        UNION
        SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted))
 GROUP BY queue_id
 LIMIT 20;
