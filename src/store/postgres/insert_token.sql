-- store/postgres/insert_token.sql: one token more, up to $3 of them.
INSERT INTO token (id, line) SELECT $1, $2 WHERE (SELECT count(*) FROM token) < $3 RETURNING number;
