-- store/sqlite/read_name.sql: a reader meets a number it does not know yet.
SELECT text FROM name WHERE id = :id;
