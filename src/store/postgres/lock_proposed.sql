-- store/postgres/lock_proposed.sql: takes what was found, but for what another transaction has already or is taking.
-- The document is looked at again, now that nobody else can take it.
SELECT t.id
  FROM task t
 WHERE t.id = ANY ($1) AND t.state = 2
   AND coalesce((SELECT h.holder = coalesce(t.batch, t.id) FROM doc_lease h WHERE h.document = t.document), true)
   FOR UPDATE SKIP LOCKED;
