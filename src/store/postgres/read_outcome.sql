-- store/postgres/read_outcome.sql: what became of a transaction whose answer was lost.
SELECT pg_xact_status($1::bigint::text::xid8);
