-- store/postgres/list_documents.sql: documents that are held, by name.
SELECT l.document, l.holder, l.since_ms,
       (SELECT t.worker FROM task t WHERE t.document = l.document AND t.state = 3 AND NOT t.container LIMIT 1)
  FROM doc_lease l
 ORDER BY l.document
 LIMIT $1;
