-- store/postgres/task_list.sql: which tasks a list or a bulk command selects, newest first.
-- Zero and NULL mean any: they are known when the statement is planned, and what they leave open costs nothing.

-- fragment: asked
-- What a filter asks of a task's order.
@wanted(b.)
   AND ($tag::bytea IS NULL OR EXISTS (SELECT 1 FROM tag g WHERE g.tag = $tag AND g.id = b.id))
   AND ($created_after_ms::bigint = 0 OR b.created_ms > $created_after_ms)
   AND ($created_before_ms::bigint = 0 OR b.created_ms < $created_before_ms)
   AND ($reach::bytea IS NULL OR b.schedule IS NULL
        OR EXISTS (SELECT 1 FROM record r WHERE r.kind = :RECORD_SCHEDULE AND r.id = b.schedule AND r.owner = $reach))

-- name: select_live
-- From the live tasks.
SELECT t.id
  FROM task t
  JOIN body b ON b.id = t.id
 WHERE ($before::uuid IS NULL OR t.id < $before)
   AND ($not_before::uuid IS NULL OR t.id >= $not_before)
   AND ($states::integer >> t.state) & 1 = 1
   AND ($priority::integer = 0 OR t.priority = $priority)
   AND @asked
 ORDER BY t.id DESC
 LIMIT $most;

-- name: select_done
-- From the history.
SELECT d.id
  FROM done d
  JOIN body b ON b.id = d.id
 WHERE ($before::uuid IS NULL OR d.id < $before)
   AND ($not_before::uuid IS NULL OR d.id >= $not_before)
   AND ($states::integer >> d.state) & 1 = 1
   AND ($priority::integer = 0 OR d.priority = $priority)
   AND @asked
 ORDER BY d.id DESC
 LIMIT $most;

-- name: select_rare
-- From tasks that did not end well.
SELECT d.id
  FROM done d
  JOIN body b ON b.id = d.id
 WHERE ($before::uuid IS NULL OR d.id < $before)
   AND ($not_before::uuid IS NULL OR d.id >= $not_before)
   AND d.state > :COMPLETED
   AND ($states::integer >> d.state) & 1 = 1
   AND ($priority::integer = 0 OR d.priority = $priority)
   AND @asked
 ORDER BY d.id DESC
 LIMIT $most;

-- name: select_all
-- From tasks of any state.
SELECT b.id
  FROM body b
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE ($before::uuid IS NULL OR b.id < $before)
   AND ($not_before::uuid IS NULL OR b.id >= $not_before)
   AND ($states::integer = 0 OR ($states >> coalesce(t.state, d.state)) & 1 = 1)
   AND ($priority::integer = 0 OR coalesce(t.priority, d.priority) = $priority)
   AND @asked
 ORDER BY b.id DESC
 LIMIT $most;
