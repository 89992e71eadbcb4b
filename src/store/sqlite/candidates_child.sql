-- store/sqlite/candidates_child.sql: children of one task, newest first.
SELECT k FROM child WHERE parent_k = :parent_hi AND k < :before AND k >= :not_before ORDER BY k DESC;
