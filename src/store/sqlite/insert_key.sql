-- store/sqlite/insert_key.sql: take an idempotency key for a new task. No row changed: it is taken.
INSERT INTO key (key, k) VALUES (:key, :k) ON CONFLICT DO NOTHING;
