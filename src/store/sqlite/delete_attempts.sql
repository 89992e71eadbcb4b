-- store/sqlite/delete_attempts.sql: they go with their task.
DELETE FROM attempt WHERE k = :k;
