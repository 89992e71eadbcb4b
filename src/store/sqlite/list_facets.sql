-- store/sqlite/list_facets.sql: the next slice of tasks for the late index.
SELECT k, document, external_id, tags, parent_hi, parent_lo, team_hi, team_lo, schedule_hi, schedule_lo
  FROM body
 WHERE k > :after
 ORDER BY k
 LIMIT :most;
