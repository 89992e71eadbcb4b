-- store/postgres/list_due_tasks.sql: live tasks to which something happens by itself, earliest first, behind ($2, $3).
SELECT id, due_ms
  FROM task
 WHERE due_ms <= $1
   AND (due_ms, id) > ($2::bigint, coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
 ORDER BY due_ms, id
 LIMIT $4;
