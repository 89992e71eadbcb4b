-- store/sqlite/script_vacuum.sql: gives a few free pages back to the file system.
PRAGMA incremental_vacuum(128);
