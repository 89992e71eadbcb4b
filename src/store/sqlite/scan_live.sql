-- store/sqlite/scan_live.sql: what the engine's memory is rebuilt from, in order of creation, from one table.
-- The first columns only: a million rows take a fraction of a second, and thrice that if all are read.
SELECT k, lo, type_id, queue_id, state, priority, attempt, queued_ms, scheduled_ms, expires_ms, document,
       related
  FROM task
 ORDER BY k;
