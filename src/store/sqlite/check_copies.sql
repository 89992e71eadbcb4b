-- store/sqlite/check_copies.sql: the hot row repeats its order faithfully.
SELECT 'rows', 'task ' || task_id(b.k, b.lo) || ': the hot row differs from its body'
  FROM task t JOIN body b ON b.k = t.k
 WHERE t.lo <> b.lo OR t.type_id <> b.type_id OR t.queue_id <> b.queue_id OR t.document IS NOT b.document
    OR t.expires_ms <> b.expires_ms OR t.created_ms <> b.created_ms
 LIMIT 20;
