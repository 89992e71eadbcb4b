-- store/postgres/append_logs.sql: more lines of attempts, each behind what it said before.
INSERT INTO log (id, number, until_byte, text)
SELECT c.id, c.number,
       coalesce((SELECT max(l.until_byte) FROM log l WHERE l.id = c.id AND l.number = c.number), 0)
       + sum(octet_length(c.text)) OVER (PARTITION BY c.id, c.number ORDER BY c.n),
       c.text
  FROM unnest($1::uuid[], $2::integer[], $3::bytea[]) WITH ORDINALITY AS c (id, number, text, n);
