-- store/postgres/token.sql: who may speak to a fleet.

-- name: list_tokens
-- Everybody who may speak to this fleet, oldest first.
SELECT id, line FROM token ORDER BY number;

-- name: stamp_tokens
-- Two numbers that are others as soon as a token was made or taken back.
SELECT coalesce(max(number), 0), count(*) FROM token;

-- name: insert_token
-- One token more, up to $3 of them.
INSERT INTO token (id, line) SELECT $id, $line WHERE (SELECT count(*) FROM token) < $most RETURNING number;

-- name: delete_token
-- One token less.
DELETE FROM token WHERE id = $id RETURNING number;
