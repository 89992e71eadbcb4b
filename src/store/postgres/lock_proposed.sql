-- store/postgres/lock_proposed.sql: takes what was found, but for what another transaction has already or is taking.
-- The lock of a document (its hash) is not waited for either, and keeps two nodes from taking two tasks of one document.
SELECT k.n
  FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS k (id, hash, n)
  JOIN task t ON t.id = k.id
 WHERE t.state = 2 AND (k.hash IS NULL OR pg_try_advisory_xact_lock(k.hash))
   AND NOT EXISTS (SELECT 1 FROM doc_lease h WHERE h.document = t.document AND h.holder <> coalesce(t.batch, t.id))
 ORDER BY k.n
   FOR UPDATE OF t SKIP LOCKED;
