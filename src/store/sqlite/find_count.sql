-- store/sqlite/find_count.sql: the counters of one queue, as they were at the last commit.
SELECT queue_id, completed, failed, cancelled, timeout
  FROM ended
 WHERE queue_id = (SELECT id FROM name WHERE text = :queue);
