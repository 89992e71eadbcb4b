-- store/postgres/find_records.sql: which records have these keys.
SELECT k.n, r.id
  FROM unnest($1::integer[], $2::bytea[]) WITH ORDINALITY AS k (kind, key, n)
  JOIN record r ON r.kind = k.kind AND r.key = k.key AND r.key IS NOT NULL
   AND r.kind = ANY ($1) AND r.key = ANY ($2);
