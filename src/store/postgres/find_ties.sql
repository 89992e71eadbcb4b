-- store/postgres/find_ties.sql: which of these tasks others depend on (true), and which depend on others (false).
-- Asked behind a load, when the rows are locked: whoever wants to depend on one of them has to wait for its lock.
SELECT DISTINCT "on", true FROM dependency WHERE "on" = ANY ($1::uuid[])
UNION ALL
SELECT DISTINCT id, false FROM dependency WHERE id = ANY ($1::uuid[]);
