-- store/postgres/insert_tags.sql: under which tags new tasks can be found.
INSERT INTO tag (tag, id) SELECT tag, id FROM unnest($1::bytea[], $2::uuid[]) AS c (tag, id) ON CONFLICT DO NOTHING;
