-- store/postgres/list_queued.sql: QUEUED tasks that may be offered, by id.
SELECT id, type, queue, document, priority, queued_ms
  FROM task
 WHERE state = 2 AND NOT container AND ($1::uuid IS NULL OR id > $1)
 ORDER BY id
 LIMIT $2;
