-- store/postgres/list_dependencies.sql: what a task depends on, in order of creation.
SELECT b.id FROM dependency x JOIN body b ON b.id = x."on" WHERE x.id = $1 ORDER BY b.id;
