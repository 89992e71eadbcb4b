-- store/sqlite/script_create.sql: what must be said to a new file before its first table.
-- Freed pages can later be given back in small steps instead of by one long VACUUM. 0x45727264 is "Errd".
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 0x45727264;
