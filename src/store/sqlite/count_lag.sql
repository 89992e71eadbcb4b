-- store/sqlite/count_lag.sql: how many tasks the late index has not reached.
SELECT count(*) FROM body WHERE k > :indexed_k;
