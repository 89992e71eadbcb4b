-- store/postgres/003_fleet.sql: what nodes tell each other through the database. Times are by the database's clock.

-- The nodes that live; `writer` is the number under which a node's store counts.
CREATE TABLE node (
    id      bytea PRIMARY KEY,
    body    bytea NOT NULL,
    seen_ms bigint NOT NULL,
    writer  bigint NOT NULL
) WITH (fillfactor = 50);

-- One row: who leads until when. The epoch grows when another takes over: it fences what a late leader still writes.
CREATE TABLE leader (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    owner    bytea,
    epoch    bigint NOT NULL,
    until_ms bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO leader (owner, epoch, until_ms) VALUES (NULL, 0, 0);

-- Messages while there is no Redis.
CREATE TABLE message (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sender bytea NOT NULL,
    body   bytea NOT NULL,
    at_ms  bigint NOT NULL
);
