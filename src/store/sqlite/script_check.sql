-- store/sqlite/script_check.sql: the file itself, its pages, NOT NULLs and CHECKs.
PRAGMA quick_check(20);
