-- store/postgres/commit.sql: on disk, or not at all.
COMMIT;
