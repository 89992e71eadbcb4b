-- store/postgres/insert_messages.sql: messages to whoever reads them.
INSERT INTO message (sender, body, at_ms)
SELECT sender, body, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
  FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS c (sender, body, n)
 ORDER BY n;
