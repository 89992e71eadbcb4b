-- store/sqlite/keep_last_k.sql: remember the highest key although its task goes.
UPDATE meta SET last_k = max(last_k, :k);
