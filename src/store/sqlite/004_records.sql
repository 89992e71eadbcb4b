-- store/sqlite/004_records.sql: what is kept besides tasks: schedules, executions, notifications, teams, messages.
-- An id is 16 bytes, most significant first: bytewise order is the order of ids, whoever made them. What a record
-- belongs to may be gone; so nothing here refers to anything. Bodies may be long: the rows lie in order of arrival, and
-- each index holds only the records that can be found by it.
CREATE TABLE record (
    k       INTEGER PRIMARY KEY,
    kind    INTEGER NOT NULL CHECK (kind > 0),
    id      BLOB NOT NULL CHECK (length(id) = 16),
    parent  BLOB CHECK (length(parent) = 16),
    owner   TEXT,
    key     TEXT,
    due_ms  INTEGER NOT NULL CHECK (due_ms >= 0),
    at_ms   INTEGER NOT NULL,
    mark    INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    body    BLOB
);
CREATE UNIQUE INDEX record_id ON record (kind, id);
CREATE UNIQUE INDEX record_key ON record (kind, key) WHERE key IS NOT NULL;
CREATE INDEX record_parent ON record (kind, parent, id) WHERE parent IS NOT NULL;
CREATE INDEX record_owner ON record (kind, owner, id) WHERE owner IS NOT NULL;
CREATE INDEX record_due ON record (kind, due_ms, id) WHERE due_ms > 0;
