-- store/sqlite/commit.sql: on disk when it returns.
COMMIT;
