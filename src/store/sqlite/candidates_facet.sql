-- store/sqlite/candidates_facet.sql: tasks that share a facet, newest first, from the late index.
SELECT k FROM facet WHERE h = :h AND k < :before AND k >= :not_before ORDER BY k DESC;
