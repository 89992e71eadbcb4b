-- store/postgres/update_records.sql: records anew, but for those whose version moved or whose new key is taken. Says which.
-- A key that another node takes at this very moment ends the transaction, and its caller begins again.
UPDATE record r
   SET parent = c.parent, owner = c.owner, key = c.key, due_ms = c.due_ms, at_ms = c.at_ms, mark = c.mark,
       version = c.version + 1, body = c.body
  FROM unnest($1::integer[], $2::uuid[], $3::uuid[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[],
              $8::integer[], $9::bigint[], $10::bytea[])
       WITH ORDINALITY AS c (kind, id, parent, owner, key, due_ms, at_ms, mark, version, body, n)
 WHERE r.kind = ANY ($1) AND r.id = ANY ($2) AND r.kind = c.kind AND r.id = c.id AND r.version = c.version
   AND (c.key IS NULL OR c.key = r.key
        OR NOT EXISTS (SELECT 1 FROM record o WHERE o.kind = c.kind AND o.key = c.key AND o.id <> c.id))
RETURNING c.n;
