-- store/postgres/next_due.sql: when the first record falls due that is not among those listed by list_due.sql.
-- What another node is working on is that node's business here, too: else we would come back for it at once.
SELECT due_ms
  FROM record
 WHERE kind = $1 AND due_ms > 0 AND id <> ALL ($2::uuid[])
 ORDER BY due_ms, id
 LIMIT 1
   FOR KEY SHARE SKIP LOCKED;
