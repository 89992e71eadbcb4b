-- store/postgres/lock_messages.sql: one node tells at a time, so that messages appear in the order of their numbers.
SELECT pg_advisory_xact_lock(x'45727264'::integer, 3);
