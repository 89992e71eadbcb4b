-- store/postgres/remove_tasks.sql: finished tasks go for good, with all that belongs to them. Says what was counted.
WITH gone AS (
    DELETE FROM done d USING body b WHERE d.id = ANY ($1::uuid[]) AND b.id = d.id RETURNING b.queue, d.state
), a AS (
    DELETE FROM attempt WHERE id = ANY ($1::uuid[])
), l AS (
    DELETE FROM log WHERE id = ANY ($1::uuid[])
), x AS (
    DELETE FROM dependency WHERE id = ANY ($1::uuid[]) OR "on" = ANY ($1::uuid[])
), g AS (
    DELETE FROM tag WHERE id = ANY ($1::uuid[])
), b AS (
    DELETE FROM body WHERE id = ANY ($1::uuid[])
)
SELECT queue, state, count(*) FROM gone GROUP BY queue, state;
