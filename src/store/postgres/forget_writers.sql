-- store/postgres/forget_writers.sql: stores that were not closed and have not been seen for a minute are dead.
WITH dead AS (
    DELETE FROM writer WHERE seen_ms < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 60000 RETURNING node)
DELETE FROM mark m USING dead d WHERE m.node = d.node;
