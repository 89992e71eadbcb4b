-- store/sqlite/check_names.sql: every number of a type or queue has its text.
SELECT 'rows', 'task ' || task_id(k, lo) || ' has a type or queue without a name'
  FROM body
 WHERE type_id NOT IN (SELECT id FROM name) OR queue_id NOT IN (SELECT id FROM name)
 LIMIT 20;
