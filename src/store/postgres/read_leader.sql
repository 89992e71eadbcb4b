-- store/postgres/read_leader.sql: who leads now.
SELECT owner, epoch FROM leader WHERE owner IS NOT NULL AND until_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
