-- store/sqlite/candidates_live.sql: live tasks that a list may want, newest first. :states has bit 1 << state.
SELECT k
  FROM task
 WHERE k < :before AND k >= :not_before
   AND created_ms > :created_after_ms AND created_ms < :created_before_ms
   AND (:type_id IS NULL OR type_id = :type_id)
   AND (:queue_id IS NULL OR queue_id = :queue_id)
   AND ((:states >> state) & 1)
   AND (:priority = 0 OR priority = :priority)
 ORDER BY k DESC;
