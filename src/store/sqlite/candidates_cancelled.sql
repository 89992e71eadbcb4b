-- store/sqlite/candidates_cancelled.sql: tasks that ended this way, newest first, from the index of rare ends.
SELECT k FROM done INDEXED BY done_rare WHERE state = 7 AND state > 5 AND k < :before AND k >= :not_before ORDER BY k DESC;
