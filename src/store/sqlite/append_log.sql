-- store/sqlite/append_log.sql: more lines of an attempt, behind what it said before.
INSERT INTO log (k, number, until_byte, text)
VALUES (:k, :number,
        length(:text) + coalesce((SELECT max(until_byte) FROM log WHERE k = :k AND number = :number), 0),
        :text);
