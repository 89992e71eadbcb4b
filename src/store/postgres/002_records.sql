-- store/postgres/002_records.sql: what is kept besides tasks: schedules, executions, notifications, teams, messages.
-- What a record belongs to may be gone; so nothing here refers to anything.
CREATE TABLE record (
    kind    integer NOT NULL CHECK (kind > 0),
    id      uuid NOT NULL,
    parent  uuid,
    owner   bytea,
    key     bytea,
    due_ms  bigint NOT NULL CHECK (due_ms >= 0),
    at_ms   bigint NOT NULL,
    mark    integer NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    body    bytea,
    PRIMARY KEY (kind, id)
);
CREATE UNIQUE INDEX record_key ON record (kind, key) WHERE key IS NOT NULL;
CREATE INDEX record_parent ON record (kind, parent, id) WHERE parent IS NOT NULL;
CREATE INDEX record_owner ON record (kind, owner, id) WHERE owner IS NOT NULL;
CREATE INDEX record_due ON record (kind, due_ms, id) WHERE due_ms > 0;
