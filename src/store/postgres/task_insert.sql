-- store/postgres/task_insert.sql: new tasks, many at once.

-- name: insert_fresh
-- New tasks that nothing has happened to yet: what insert_tasks does, with half as many arrays.
WITH c AS MATERIALIZED (
    SELECT @rows(@order, payload bytea, @fresh)
), bodies AS (
    INSERT INTO body (@order, payload)
    SELECT @order, payload
      FROM c
)
INSERT INTO task (id, type, queue, document, batch, container, expires_ms, @standing)
SELECT id, type, queue, document, batch, container, expires_ms, @fresh, @blank
  FROM c;

-- name: insert_tasks
-- New tasks, each its order and where it stands.
-- The arrays are rows taken apart, column by column: order, standing, end.
WITH c AS MATERIALIZED (
    SELECT @rows(@order, payload bytea, @standing, @end)
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
INSERT INTO task (id, type, queue, document, batch, container, expires_ms, @standing)
SELECT id, type, queue, document, batch, container, expires_ms, @standing
  FROM c
 WHERE state < :COMPLETED;

-- name: insert_tags
-- Under which tags new tasks can be found.
INSERT INTO tag (tag, id) SELECT tag, id FROM @table(c: tag bytea, id uuid) ON CONFLICT DO NOTHING;

-- name: insert_dependencies
-- What new tasks depend on.
INSERT INTO dependency (id, "on") SELECT id, needs FROM @table(c: id uuid, needs uuid) ON CONFLICT DO NOTHING;
