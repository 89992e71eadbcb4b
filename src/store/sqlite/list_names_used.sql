-- store/sqlite/list_names_used.sql: the names that tasks have, in order of creation.
SELECT k, type_id, queue_id FROM body WHERE k > :cursor ORDER BY k LIMIT :most;
