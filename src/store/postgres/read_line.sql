-- store/postgres/read_line.sql: the timeline that the server writes: another one whenever a standby took a server's place.
SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer::bigint;
