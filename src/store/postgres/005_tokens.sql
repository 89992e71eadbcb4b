-- store/postgres/005_tokens.sql: who may speak to the nodes of a fleet. A line holds a hash and a role, never the token (net/token.h).
-- Numbers are never given out twice, so the greatest of them and their count together tell whether anything has changed.

CREATE TABLE token (
    id     bytea PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    line   bytea NOT NULL
);
