-- store/sqlite/list_due.sql: records to which something happens by itself, the first one first.
SELECT id, parent, owner, key, due_ms, at_ms, mark, version, body
  FROM record INDEXED BY record_due
 WHERE kind = :kind AND due_ms > 0
 ORDER BY due_ms, id
 LIMIT :limit;
