-- store/sqlite/delete_log.sql: it goes with its task.
DELETE FROM log WHERE k = :k;
