-- store/postgres/list_logs.sql: what the attempts of a task said, in order.
SELECT number, text FROM log WHERE id = $1 ORDER BY number, until_byte;
