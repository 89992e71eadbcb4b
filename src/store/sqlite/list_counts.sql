-- store/sqlite/list_counts.sql: the counters as they were at the last commit, to go on from.
SELECT queue_id, completed, failed, cancelled, timeout FROM ended;
