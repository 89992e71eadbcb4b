-- store/sqlite/check_i1_ends.sql: I1: an end is told completely, and only a completed task has a result.
SELECT 'I1', 'task ' || task_id(b.k, b.lo) || ' ended, but its row does not say how or when'
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.state NOT BETWEEN 5 AND 8 OR d.finished_ms <= 0
    OR (d.state = 5 AND d.attempt > 0 AND d.outcome <> 1)
    OR (d.state <> 5 AND d.result IS NOT NULL)
 LIMIT 20;
