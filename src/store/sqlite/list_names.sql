-- store/sqlite/list_names.sql: names in order of their numbers, to see which of them nobody uses.
SELECT id FROM name WHERE id > :cursor AND id <= :last ORDER BY id LIMIT :most;
