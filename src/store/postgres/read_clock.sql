-- store/postgres/read_clock.sql: what time it is for all nodes.
SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
