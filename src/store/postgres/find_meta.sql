-- store/postgres/find_meta.sql: whether there is anything of errand's here yet.
-- It reads the catalogue itself: to_regclass() answers from a cache that may be older than the lock we just waited for.
SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE relname = 'meta' AND relkind = 'r' AND pg_table_is_visible(oid));
