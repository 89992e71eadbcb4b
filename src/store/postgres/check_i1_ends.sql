-- store/postgres/check_i1_ends.sql: I1: an end is told completely, and only a completed task has a result.
SELECT 'I1', 'task ' || id || ' ended, but its row does not say how or when'
  FROM done
 WHERE state NOT BETWEEN 5 AND 8 OR finished_ms <= 0
    OR (state = 5 AND attempt > 0 AND outcome <> 1)
    OR (state <> 5 AND result IS NOT NULL)
 LIMIT 20;
