-- store/sqlite/touch_record.sql: a record anew whose parent, owner and key stay as they are.
-- Nearly all changes are such ones, and a column that is not named leaves its indexes alone.
UPDATE record
   SET due_ms = :due_ms, at_ms = :at_ms, mark = :mark, version = :version + 1, body = :body
 WHERE kind = :kind AND id = :id AND version = :version
   AND parent IS :parent AND owner IS :owner AND key IS :key;
