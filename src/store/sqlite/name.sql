-- store/sqlite/name.sql: task types and queues, each text once.

-- name: find_name
-- A reader meets a text it does not know yet.
SELECT id FROM name WHERE text = :text;

-- name: read_name
-- A reader meets a number it does not know yet.
SELECT text FROM name WHERE id = :id;

-- name: insert_name
-- Intern a text.
INSERT INTO name (id, text) VALUES (:id, :text);

-- name: delete_name
-- No task has this name any more.
DELETE FROM name WHERE id = :id;

-- name: count_names
-- How many names there are, and the highest number among them.
SELECT count(*), coalesce(max(id), 0) FROM name;

-- name: list_names
-- Names in order of their numbers, to see which of them nobody uses.
SELECT id FROM name WHERE id > :cursor AND id <= :last ORDER BY id LIMIT :most;

-- name: list_names_used
-- The names that tasks have, in order of creation.
SELECT k, type_id, queue_id FROM body WHERE k > :cursor ORDER BY k LIMIT :most;
