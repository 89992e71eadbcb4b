-- store/postgres/trim_logs.sql: pieces that lie wholly below the part that is kept (TASK_LOG_MAX) go.
DELETE FROM log l
 USING (SELECT DISTINCT id, number FROM unnest($1::uuid[], $2::integer[], $3::bytea[]) AS c (id, number, text)) c
 WHERE l.id = c.id AND l.number = c.number
   AND l.until_byte <= (SELECT max(m.until_byte) FROM log m WHERE m.id = c.id AND m.number = c.number) - 65536;
