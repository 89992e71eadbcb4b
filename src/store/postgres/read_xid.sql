-- store/postgres/read_xid.sql: the transaction's own number, to ask later whether it was committed.
SELECT pg_current_xact_id()::text::bigint;
