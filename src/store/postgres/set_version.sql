-- store/postgres/set_version.sql: the migrations up to $1 were run; an errand that knows fewer than $2 must not work here.
INSERT INTO meta (version, oldest_reader) VALUES ($1, $2)
ON CONFLICT (one) DO UPDATE SET version = excluded.version, oldest_reader = excluded.oldest_reader;
