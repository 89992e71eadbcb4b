-- store/postgres/list_queued.sql: QUEUED tasks that may be offered, by id.
-- A task whose own batch holds the document already need not stand in line for it.
SELECT t.id, t.type, t.queue,
       CASE WHEN EXISTS (SELECT 1 FROM doc_lease h WHERE h.document = t.document AND h.holder = t.batch) THEN NULL
            ELSE t.document END,
       t.priority, t.queued_ms
  FROM task t
 WHERE t.state = 2 AND NOT t.container AND ($1::uuid IS NULL OR t.id > $1)
 ORDER BY t.id
 LIMIT $2;
