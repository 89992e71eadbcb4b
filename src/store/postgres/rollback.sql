-- store/postgres/rollback.sql: nothing of it happened.
ROLLBACK;
