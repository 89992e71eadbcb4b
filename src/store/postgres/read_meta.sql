-- store/postgres/read_meta.sql: which migrations the database has had, and who may work with it.
SELECT version, oldest_reader, epoch FROM meta;
