-- store/sqlite/is_needed.sql: does a task that has not ended depend on this one?
SELECT 1 FROM dependency x JOIN task t ON t.k = x.k WHERE x.on_k = :k LIMIT 1;
