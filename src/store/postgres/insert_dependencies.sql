-- store/postgres/insert_dependencies.sql: what new tasks depend on.
INSERT INTO dependency (id, "on") SELECT id, "on" FROM unnest($1::uuid[], $2::uuid[]) AS c (id, "on") ON CONFLICT DO NOTHING;
