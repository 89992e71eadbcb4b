-- store/postgres/beat_node.sql: a node lives.
INSERT INTO node (id, body, seen_ms, writer) VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $3)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, seen_ms = excluded.seen_ms, writer = excluded.writer;
