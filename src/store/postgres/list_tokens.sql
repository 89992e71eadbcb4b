-- store/postgres/list_tokens.sql: everybody who may speak to this fleet, oldest first.
SELECT id, line FROM token ORDER BY number;
