-- store/sqlite/count_live.sql: every live task, to be counted.
SELECT queue_id, state FROM task;
