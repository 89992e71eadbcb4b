-- store/postgres/task_insert.sql: new tasks, many at once.

-- fragment: plain_body
-- What is said of the body of a plain task: first what somebody may choose, then what it has not.
type, queue, created_ms, backoff_base_ms, backoff_max_ms, backoff_factor, backoff_jitter, expires_ms, payload_raw, container, continues,
runs_anyway

-- fragment: plain_body_rest
-- It has none of these.
0, false, false, false, false

-- fragment: plain_task
-- And where it stands: queued, and nothing has happened to it yet.
type, queue, queued_ms, updated_ms, priority, max_retries, timeout_ms, container, expires_ms, state, attempt, retries, scheduled_ms,
started_ms, cancel_requested, token, outcome, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet

-- fragment: plain_task_rest
-- As all plain tasks stand.
false, 0, :QUEUED, 0, 0, 0, 0, false, 0, :OUTCOME_NONE, 0, 0, 0, 0, 0

-- name: insert_alike
-- New tasks that are queued at once, say nothing unusual and are of one make: but for their ids and payloads they are the same.
-- takes: id, payload, type, queue, created_ms, priority, max_retries, timeout_ms, backoff_base_ms, backoff_max_ms, backoff_factor, backoff_jitter
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, payload bytea)
), bodies AS (
    INSERT INTO body (id, payload, @plain_body)
    SELECT id, payload, $type::text, $queue::text, $created_ms::bigint, $backoff_base_ms::bigint, $backoff_max_ms::bigint,
           $backoff_factor::float8, $backoff_jitter::float8, @plain_body_rest
      FROM c
)
INSERT INTO task (id, @plain_task)
SELECT id, $type, $queue, $created_ms, $created_ms, $priority::integer, $max_retries::integer, $timeout_ms::bigint, @plain_task_rest
  FROM c;

-- name: insert_plain
-- The same for tasks of several makes. How they are retried is the same for all in one call.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, payload bytea, type text, queue text, created_ms bigint, priority integer, max_retries integer, timeout_ms bigint)
), bodies AS (
    INSERT INTO body (id, payload, @plain_body)
    SELECT id, payload, type, queue, created_ms, $backoff_base_ms::bigint, $backoff_max_ms::bigint, $backoff_factor::float8,
           $backoff_jitter::float8, @plain_body_rest
      FROM c
)
INSERT INTO task (id, @plain_task)
SELECT id, type, queue, created_ms, created_ms, priority, max_retries, timeout_ms, @plain_task_rest
  FROM c;

-- name: insert_fresh
-- New tasks that nothing has happened to yet: what insert_tasks does, with half as many arrays.
WITH c AS MATERIALIZED (
    SELECT @rows(@order, payload bytea, due_ms bigint, @fresh)
), bodies AS (
    INSERT INTO body (@order, payload)
    SELECT @order, payload
      FROM c
)
INSERT INTO task (id, type, queue, document, batch, container, expires_ms, due_ms, @standing)
SELECT id, type, queue, document, batch, container, expires_ms, due_ms, @fresh, @blank
  FROM c;

-- name: insert_tasks
-- New tasks, each its order and where it stands.
-- The arrays are rows taken apart, column by column: order, standing, end.
WITH c AS MATERIALIZED (
    SELECT @rows(@order, payload bytea, due_ms bigint, @standing, @end)
), bodies AS (
    INSERT INTO body (@order, payload)
    SELECT @order, payload
      FROM c
), ended AS (
    INSERT INTO done (id, @standing, @end)
    SELECT id, @standing, @end
      FROM c
     WHERE state >= :COMPLETED
)
INSERT INTO task (id, type, queue, document, batch, container, expires_ms, due_ms, @standing)
SELECT id, type, queue, document, batch, container, expires_ms, due_ms, @standing
  FROM c
 WHERE state < :COMPLETED;

-- name: insert_tags
-- Under which tags new tasks can be found.
INSERT INTO tag (tag, id) SELECT tag, id FROM @table(c: tag bytea, id uuid) ON CONFLICT DO NOTHING;

-- name: insert_dependencies
-- What new tasks depend on; both ends know of it (007_narrow.sql).
WITH new AS (
    INSERT INTO dependency (id, "on") SELECT id, needs FROM @table(c: id uuid, needs uuid) ON CONFLICT DO NOTHING
)
UPDATE task
   SET depends = depends OR id = ANY ($id), awaited = awaited OR id = ANY ($needs)
 WHERE id = ANY ($id::uuid[] || $needs::uuid[]);
