-- store/sqlite/insert_name.sql: intern a text.
INSERT INTO name (id, text) VALUES (:id, :text);
