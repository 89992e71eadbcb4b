-- store/postgres/find_document.sql: who holds a document, and the worker of the attempt that runs on it.
SELECT l.document, l.holder, l.since_ms,
       (SELECT t.worker FROM task t WHERE t.document = l.document AND t.state = 3 AND NOT t.container LIMIT 1)
  FROM doc_lease l
 WHERE l.document = $1;
