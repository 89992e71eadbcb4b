-- store/sqlite/check_copies.sql: the hot row repeats its order faithfully.
SELECT 'rows', 'task ' || task_id(b.k, b.lo) || ': the hot row differs from its body'
  FROM task t JOIN body b ON b.k = t.k
 WHERE t.lo <> b.lo OR t.type_id <> b.type_id OR t.queue_id <> b.queue_id OR t.document IS NOT b.document
    OR t.expires_ms <> b.expires_ms OR t.created_ms <> b.created_ms
    OR t.parent_hi <> coalesce(b.parent_hi, 0) OR t.parent_lo <> coalesce(b.parent_lo, 0)
    OR t.batch_hi <> coalesce(b.batch_hi, 0) OR t.batch_lo <> coalesce(b.batch_lo, 0)
    OR t.container <> b.container OR t.continues <> b.continues OR t.runs_anyway <> b.runs_anyway
    OR (t.related = 0 AND (t.parent_hi <> 0 OR t.batch_hi <> 0 OR t.container + t.continues + t.runs_anyway + t.unmet > 0))
 LIMIT 20;
