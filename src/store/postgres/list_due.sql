-- store/postgres/list_due.sql: records to which something happens by itself, earliest first.
-- Those that another node is working on are passed over, and come back when it is done with them.
SELECT id, parent, owner, key, due_ms, at_ms, mark, version, body
  FROM record
 WHERE kind = $1 AND due_ms > 0 AND due_ms <= $2
 ORDER BY due_ms, id
 LIMIT $3
   FOR UPDATE SKIP LOCKED;
