-- store/postgres/task_insert.sql: new tasks, many at once.

-- name: insert_plain
-- New tasks that are queued at once and say nothing unusual: most of them. How they are retried is the same for all in one call.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, type text, queue text, created_ms bigint, payload bytea, priority integer, max_retries integer, timeout_ms bigint)
), bodies AS (
    INSERT INTO body (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor, backoff_jitter, payload_raw,
                      container, continues, runs_anyway, payload)
    SELECT id, type, queue, created_ms, 0, ($backoff_base_ms::bigint[])[1], ($backoff_max_ms::bigint[])[1], ($backoff_factor::float8[])[1],
           ($backoff_jitter::float8[])[1], false, false, false, false, payload
      FROM c
)
INSERT INTO task (id, type, queue, container, expires_ms, state, priority, attempt, retries, max_retries, timeout_ms, scheduled_ms,
                  queued_ms, started_ms, updated_ms, cancel_requested, token, outcome, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes,
                  unmet)
SELECT id, type, queue, false, 0, :QUEUED, priority, 0, 0, max_retries, timeout_ms, 0, created_ms, 0, created_ms, false, 0, :OUTCOME_NONE,
       0, 0, 0, 0, 0
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
