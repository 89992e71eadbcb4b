-- store/sqlite/find_name.sql: a reader meets a text it does not know yet.
SELECT id FROM name WHERE text = :text;
