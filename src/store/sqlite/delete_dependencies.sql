-- store/sqlite/delete_dependencies.sql: what a task depended on is forgotten with it.
DELETE FROM dependency WHERE k = :k;
