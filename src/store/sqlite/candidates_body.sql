-- store/sqlite/candidates_body.sql: tasks that a list may want, newest first, from the bodies themselves.
-- For lists of any state, and for the newest tasks that the late index does not reach yet. NULL means any. A tag is
-- found in the packed list by its bytes alone; whoever reads looks again.
SELECT k
  FROM body
 WHERE k < :before AND k >= :not_before
   AND created_ms > :created_after_ms AND created_ms < :created_before_ms
   AND (:type_id IS NULL OR type_id = :type_id)
   AND (:queue_id IS NULL OR queue_id = :queue_id)
   AND (:document IS NULL OR document = :document)
   AND (:external_id IS NULL OR external_id = :external_id)
   AND (:parent_hi IS NULL OR parent_hi = :parent_hi)
   AND (:team_hi IS NULL OR team_hi = :team_hi)
   AND (:schedule_hi IS NULL OR schedule_hi = :schedule_hi)
   AND (:tag IS NULL OR instr(tags, :tag) > 0)
 ORDER BY k DESC;
