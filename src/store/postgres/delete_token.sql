-- store/postgres/delete_token.sql: one token less.
DELETE FROM token WHERE id = $1 RETURNING number;
