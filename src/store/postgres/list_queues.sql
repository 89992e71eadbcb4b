-- store/postgres/list_queues.sql: queues with settings of their own.
SELECT name, paused, max_concurrent, rate_per_second, burst FROM queue ORDER BY name;
