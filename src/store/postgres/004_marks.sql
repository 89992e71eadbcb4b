-- store/postgres/004_marks.sql: how a store finds out what became of a commit whose answer was lost.
-- Each writing store has one row and raises its number in every transaction that writes. A transaction's own number in PostgreSQL will
-- not do: after a crash of the database the numbers of what was lost are given out again, and pg_xact_status() speaks of strangers.

CREATE TABLE mark (
    node   bigint PRIMARY KEY,
    number bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
