-- store/postgres/add_writer.sql: a store that writes is open; said again, it still is.
INSERT INTO writer (node, seen_ms) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
ON CONFLICT (node) DO UPDATE SET seen_ms = excluded.seen_ms;
