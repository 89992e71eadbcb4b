-- store/sqlite/load_record.sql: one record.
SELECT id, parent, owner, key, due_ms, at_ms, mark, version, body
  FROM record
 WHERE kind = :kind AND id = :id;
