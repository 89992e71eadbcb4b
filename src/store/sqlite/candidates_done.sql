-- store/sqlite/candidates_done.sql: finished tasks that a list may want, newest first, COMPLETED ones among them.
SELECT d.k
  FROM done d CROSS JOIN body b ON b.k = d.k
 WHERE d.k < :before AND d.k >= :not_before
   AND ((:states >> d.state) & 1)
   AND (:priority = 0 OR d.priority = :priority)
   AND b.created_ms > :created_after_ms AND b.created_ms < :created_before_ms
   AND (:type_id IS NULL OR b.type_id = :type_id)
   AND (:queue_id IS NULL OR b.queue_id = :queue_id)
 ORDER BY d.k DESC;
