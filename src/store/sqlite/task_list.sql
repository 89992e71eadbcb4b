-- store/sqlite/task_list.sql: candidates for a list or a bulk command, newest first.

-- name: candidates_body
-- Tasks that a list may want, newest first, from the bodies themselves.
-- For lists of any state, and for the newest tasks that the late index does not reach yet. NULL means any. What
-- is packed is found by its bytes alone; whoever reads looks again.
SELECT k
  FROM body
 WHERE k < :before AND k >= :not_before
   AND created_ms > :created_after_ms AND created_ms < :created_before_ms
   AND (:type_id IS NULL OR type_id = :type_id)
   AND (:queue_id IS NULL OR queue_id = :queue_id)
   AND (:document IS NULL OR instr(rest, :document) > 0)
   AND (:external_id IS NULL OR instr(rest, :external_id) > 0)
   AND (:parent IS NULL OR instr(rest, :parent) > 0)
   AND (:team IS NULL OR instr(rest, :team) > 0)
   AND (:schedule IS NULL OR instr(rest, :schedule) > 0)
   AND (:tag IS NULL OR instr(rest, :tag) > 0)
 ORDER BY k DESC;

-- name: candidates_live
-- Live tasks that a list may want, newest first. :states has bit 1 << state.
SELECT k
  FROM task
 WHERE k < :before AND k >= :not_before
   AND (:type_id IS NULL OR type_id = :type_id)
   AND (:queue_id IS NULL OR queue_id = :queue_id)
   AND ((:states >> state) & 1)
   AND (:priority = 0 OR priority = :priority)
 ORDER BY k DESC;

-- name: candidates_done
-- Finished tasks that a list may want, newest first, COMPLETED ones among them.
SELECT d.k
  FROM done d CROSS JOIN body b ON b.k = d.k
 WHERE d.k < :before AND d.k >= :not_before
   AND ((:states >> d.state) & 1)
   AND (:priority = 0 OR d.priority = :priority)
   AND b.created_ms > :created_after_ms AND b.created_ms < :created_before_ms
   AND (:type_id IS NULL OR b.type_id = :type_id)
   AND (:queue_id IS NULL OR b.queue_id = :queue_id)
 ORDER BY d.k DESC;

-- name: candidates_failed
-- Tasks that ended this way, newest first, from the index of rare ends.
SELECT k FROM done INDEXED BY done_rare WHERE state = :FAILED AND state > :COMPLETED AND k < :before AND k >= :not_before ORDER BY k DESC;

-- name: candidates_cancelled
-- Tasks that ended this way, newest first, from the index of rare ends.
SELECT k FROM done INDEXED BY done_rare WHERE state = :CANCELLED AND state > :COMPLETED AND k < :before AND k >= :not_before ORDER BY k DESC;

-- name: candidates_timeout
-- Tasks that ended this way, newest first, from the index of rare ends.
SELECT k FROM done INDEXED BY done_rare WHERE state = :TIMEOUT AND state > :COMPLETED AND k < :before AND k >= :not_before ORDER BY k DESC;

-- name: candidates_child
-- Children of one task, newest first.
SELECT k FROM child WHERE parent_k = :parent_k AND k < :before AND k >= :not_before ORDER BY k DESC;

-- name: candidates_facet
-- Tasks that share a facet, newest first, from the late index.
SELECT k FROM facet WHERE h = :h AND k < :before AND k >= :not_before ORDER BY k DESC;
