-- store/sqlite/script.sql: what is said to a connection as a whole.

-- name: script_create
-- What must be said to a new file before its first table.
-- Freed pages can later be given back in small steps instead of by one long VACUUM. That the file is ours is written
-- with its tables, in one transaction: a crash in between would leave a file that nobody knows any more.
PRAGMA auto_vacuum = INCREMENTAL;

-- name: script_writer
-- The writing connection.
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

-- name: script_reader
-- A connection that only looks.
PRAGMA query_only = ON;
PRAGMA cache_size = -4000;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;

-- name: script_check
-- The file itself, its pages, NOT NULLs and CHECKs.
PRAGMA quick_check(20);

-- name: script_vacuum
-- Gives a few free pages back to the file system.
PRAGMA incremental_vacuum(128);
