-- store/postgres/lease_documents.sql: tasks that are born running need their documents. Says how many were not granted.
WITH c AS MATERIALIZED (
    SELECT *
      FROM unnest($1::bytea[], $2::uuid[], $3::boolean[], $4::bigint[], $5::text[], $6::bigint[])
        AS c (document, holder, in_batch, node, lock, since_ms)
), leased AS (
    INSERT INTO doc_lease AS l (document, holder, batch, node, lock, since_ms)
    SELECT DISTINCT ON (document) document, holder, in_batch, node, lock, since_ms
      FROM c
     ORDER BY document
        ON CONFLICT (document) DO UPDATE
       SET kept = false, node = excluded.node, lock = excluded.lock
     WHERE l.holder = excluded.holder
    RETURNING document, holder
)
SELECT count(*) FROM c WHERE NOT EXISTS (SELECT 1 FROM leased l WHERE l.document = c.document AND l.holder = c.holder);
