-- store/postgres/count_running.sql: how many attempts run in each queue that limits them. Behind lock_rooms.sql: whoever starts
-- another one there has to wait for its lock.
SELECT t.queue, count(*)
  FROM task t
 WHERE t.state = 3 AND NOT t.container
   AND t.queue = ANY (ARRAY (SELECT name FROM queue WHERE max_concurrent > 0 AND ($1::text[] IS NULL OR name = ANY ($1))))
 GROUP BY t.queue;
