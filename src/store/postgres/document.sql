-- store/postgres/document.sql: who holds which document, and who waits for it.

-- name: lease_documents
-- Tasks that are born running need their documents. Says how many were not granted.
WITH c AS MATERIALIZED (
    SELECT *
      FROM @table(c: document bytea, holder uuid, in_family boolean, node bigint, lock text, since_ms bigint)
), leased AS (
    INSERT INTO doc_lease AS l (document, holder, batch, node, lock, since_ms)
    SELECT DISTINCT ON (document) document, holder, in_family, node, lock, since_ms
      FROM c
     ORDER BY document
        ON CONFLICT (document) DO UPDATE
       SET kept = false, node = excluded.node, lock = excluded.lock
     WHERE l.holder = excluded.holder
    RETURNING document, holder
)
SELECT count(*) FROM c WHERE NOT EXISTS (SELECT 1 FROM leased l WHERE l.document = c.document AND l.holder = c.holder);

-- name: free_document
-- A holder lets one document go.
DELETE FROM doc_lease WHERE document = $document AND holder = $holder;

-- name: drop_strays
-- Documents that were kept for run functions of dead stores are free.
DELETE FROM doc_lease l WHERE l.kept AND NOT EXISTS (SELECT 1 FROM writer w WHERE w.node = l.node);

-- name: lock_documents
-- The documents of what was found, by their hashes (NULL: none), but for those that another
-- transaction has: so two nodes never take two tasks of one document. The locks end with the transaction.
SELECT n
  FROM @table(k: hash bigint, n)
 WHERE hash IS NULL OR pg_try_advisory_xact_lock(hash);

-- name: find_document
-- Who holds a document, and the worker of the attempt that runs on it.
SELECT l.document, l.holder, l.since_ms,
       (SELECT t.worker FROM task t WHERE t.document = l.document AND t.state = :RUNNING AND NOT t.container LIMIT 1)
  FROM doc_lease l
 WHERE l.document = $document;

-- name: list_documents
-- Documents that are held, by name: a row for each of the first who wait for it, in start order, or one without. A ready
-- child of the family that holds it waits for a worker alone. Of a line that is longer than ten thousand only as many are
-- looked at: somebody looks at this every second.
WITH held AS (
    SELECT document, holder, since_ms FROM doc_lease ORDER BY document LIMIT $most
)
SELECT l.document, l.holder, l.since_ms,
       (SELECT t.worker FROM task t WHERE t.document = l.document AND t.state = :RUNNING AND NOT t.container LIMIT 1),
       coalesce(w.line, 0), w.id
  FROM held l
  LEFT JOIN LATERAL (
       SELECT q.id, count(*) OVER () AS line, row_number() OVER (ORDER BY -q.priority, q.queued_ms, q.id) AS place
         FROM (SELECT t.id, t.priority, t.queued_ms
                 FROM task t
                WHERE t.document = l.document AND t.state = :QUEUED AND NOT t.container
                  AND t.batch IS DISTINCT FROM l.holder
                LIMIT 10000) q
        ORDER BY place
        LIMIT $first) w ON true
 ORDER BY l.document, w.place;

-- name: list_waiting
-- Who waits for a document, in start order; not who has it by its family.
SELECT id
  FROM task t
 WHERE document = $document AND state = :QUEUED AND NOT container
   AND NOT EXISTS (SELECT 1 FROM doc_lease l WHERE l.document = t.document AND l.holder = t.batch)
 ORDER BY -priority, queued_ms, id
 LIMIT $most;

-- name: list_held
-- Documents that are held, by name, with what their lock is worth elsewhere.
SELECT document, holder, lock
  FROM doc_lease
 WHERE $after::bytea IS NULL OR document > $after
 ORDER BY document
 LIMIT $most;
