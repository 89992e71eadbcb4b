-- store/postgres/find_keys.sql: the tasks that have these idempotency keys.
SELECT k.n, b.id
  FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, n)
  JOIN body b ON b.key = k.key AND b.key IS NOT NULL AND b.key = ANY ($1);
