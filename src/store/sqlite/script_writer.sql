-- store/sqlite/script_writer.sql: the writing connection.
-- FULL syncs the log at every commit: that is G1. A big cache was measured to be slower (98k against 49k lives a
-- second), and checkpoints are run by tx.c itself, inline, because a background one never catches up and the built-in
-- one hides a failed fsync. Debian builds SQLite to overwrite what is deleted; the hot table deletes all the time.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA cache_size = -4000;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;
PRAGMA foreign_keys = OFF;
PRAGMA journal_size_limit = 67108864;
PRAGMA secure_delete = OFF;
