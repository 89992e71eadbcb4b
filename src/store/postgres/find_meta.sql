-- store/postgres/find_meta.sql: whether there is anything of errand's here yet.
SELECT to_regclass('meta') IS NOT NULL;
