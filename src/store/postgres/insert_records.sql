-- store/postgres/insert_records.sql: new records, but for those whose id or key is taken. Says which were written.
-- The kind and id of each come but once in a call, and so do keys.
WITH c AS MATERIALIZED (
    SELECT *
      FROM unnest($1::integer[], $2::uuid[], $3::uuid[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[],
                  $8::integer[], $9::bigint[], $10::bytea[])
           WITH ORDINALITY AS c (kind, id, parent, owner, key, due_ms, at_ms, mark, version, body, n)
), written AS (
    INSERT INTO record (kind, id, parent, owner, key, due_ms, at_ms, mark, version, body)
    SELECT kind, id, parent, owner, key, due_ms, at_ms, mark, version + 1, body FROM c ORDER BY kind, id
    ON CONFLICT DO NOTHING
    RETURNING kind, id
)
SELECT c.n FROM c JOIN written w ON w.kind = c.kind AND w.id = c.id;
