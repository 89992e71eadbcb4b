-- store/postgres/list_held.sql: documents that are held, by name, with what their lock is worth elsewhere.
SELECT document, holder, lock
  FROM doc_lease
 WHERE $1::bytea IS NULL OR document > $1
 ORDER BY document
 LIMIT $2;
