-- store/sqlite/script_create.sql: what must be said to a new file before its first table.
-- Freed pages can later be given back in small steps instead of by one long VACUUM. That the file is ours is written
-- with its tables, in one transaction: a crash in between would leave a file that nobody knows any more.
PRAGMA auto_vacuum = INCREMENTAL;
