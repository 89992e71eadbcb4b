-- store/sqlite/list_branch.sql: the children of a task that is to go, and whether each is still live.
SELECT c.k, b.lo, t.k IS NOT NULL
  FROM child c JOIN body b ON b.k = c.k LEFT JOIN task t ON t.k = c.k
 WHERE c.parent_k = :k;
