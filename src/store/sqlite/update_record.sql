-- store/sqlite/update_record.sql: a record anew, unless its version moved or another record has the key.
UPDATE OR IGNORE record
   SET parent = :parent, owner = :owner, key = :key, due_ms = :due_ms, at_ms = :at_ms, mark = :mark,
       version = :version + 1, body = :body
 WHERE kind = :kind AND id = :id AND version = :version;
