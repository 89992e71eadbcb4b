-- store/postgres/lock_documents.sql: the documents of what was found, by their hashes (NULL: none), but for those that another
-- transaction has: so two nodes never take two tasks of one document. The locks end with the transaction.
SELECT n
  FROM unnest($1::bigint[]) WITH ORDINALITY AS k (hash, n)
 WHERE hash IS NULL OR pg_try_advisory_xact_lock(hash);
