-- store/postgres/load_records.sql: records by their names; whoever loads to change locks them too (record.c).
SELECT r.id, r.parent, r.owner, r.key, r.due_ms, r.at_ms, r.mark, r.version, r.body, k.n
  FROM unnest($1::integer[], $2::uuid[]) WITH ORDINALITY AS k (kind, id, n)
  JOIN record r ON r.kind = k.kind AND r.id = k.id AND r.kind = ANY ($1) AND r.id = ANY ($2)
 ORDER BY r.kind, r.id
