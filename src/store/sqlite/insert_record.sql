-- store/sqlite/insert_record.sql: a new record, unless its id or key is taken.
INSERT INTO record (kind, id, parent, owner, key, due_ms, at_ms, mark, version, body)
VALUES (:kind, :id, :parent, :owner, :key, :due_ms, :at_ms, :mark, :version + 1, :body)
ON CONFLICT DO NOTHING;
