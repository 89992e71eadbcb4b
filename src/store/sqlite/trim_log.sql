-- store/sqlite/trim_log.sql: pieces that lie wholly below the part that is kept go.
DELETE FROM log
 WHERE k = :k AND number = :number
   AND until_byte <= (SELECT max(until_byte) FROM log WHERE k = :k AND number = :number) - :keep;
