-- store/postgres/stamp_tokens.sql: two numbers that are others as soon as a token was made or taken back.
SELECT coalesce(max(number), 0), count(*) FROM token;
