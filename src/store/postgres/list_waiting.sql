-- store/postgres/list_waiting.sql: who waits for a document, in start order.
SELECT id
  FROM task
 WHERE document = $1 AND state = 2 AND NOT container
 ORDER BY -priority, queued_ms, id
 LIMIT $2;
