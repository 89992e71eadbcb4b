-- store/postgres/list_children.sql: the children of a task in order of creation.
SELECT id FROM body WHERE parent = $1 ORDER BY id;
