-- store/postgres/delete_records.sql: records go by their names.
DELETE FROM record r
 USING unnest($1::integer[], $2::uuid[]) AS c (kind, id)
 WHERE r.kind = c.kind AND r.id = c.id AND r.kind = ANY ($1) AND r.id = ANY ($2);
