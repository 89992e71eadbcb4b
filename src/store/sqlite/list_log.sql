-- store/sqlite/list_log.sql: what an attempt said, in order.
SELECT text FROM log WHERE k = :k AND number = :number ORDER BY until_byte;
