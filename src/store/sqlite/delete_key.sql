-- store/sqlite/delete_key.sql: a key is free when its task is gone.
DELETE FROM key WHERE key = :key AND k = :k;
