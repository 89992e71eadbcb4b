-- store/sqlite/candidates_failed.sql: tasks that ended this way, newest first, from the index of rare ends.
SELECT k FROM done INDEXED BY done_rare WHERE state = 6 AND state > 5 AND k < :before AND k >= :not_before ORDER BY k DESC;
