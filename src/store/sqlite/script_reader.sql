-- store/sqlite/script_reader.sql: a connection that only looks.
PRAGMA query_only = ON;
PRAGMA cache_size = -4000;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;
