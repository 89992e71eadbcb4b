-- store/postgres/lock_schema.sql: one node migrates at a time; the lock ends with the transaction. 'Errd' is its name.
SELECT pg_advisory_xact_lock(x'45727264'::integer, 1);
