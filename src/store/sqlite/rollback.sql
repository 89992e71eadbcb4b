-- store/sqlite/rollback.sql: nothing of it happened.
ROLLBACK;
