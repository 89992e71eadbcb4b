-- store/sqlite/001_tasks.sql: the first schema.
-- The key k is the first half of a task's UUIDv7: it only grows, so every table is appended to. Bodies are written
-- once; `task` holds the small hot row of each live task and `done` the history, so that the hot table stays small
-- whatever the history weighs. There is no index on hot columns: the broker's memory is the index.
-- Times are UTC milliseconds, 0 when unset. States, priorities and outcomes are the numbers of task/task.h; the
-- CHECKs repeat the life of a task, so that even a mistake of ours cannot be stored.

CREATE TABLE meta (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    epoch       INTEGER NOT NULL,               -- grows with each writing open
    last_k      INTEGER NOT NULL                -- the highest key that was ever deleted
);
INSERT INTO meta VALUES (1, 0, 0);

-- Task types and queues, each text once.
CREATE TABLE name (
    id          INTEGER PRIMARY KEY,
    text        TEXT NOT NULL UNIQUE
);

-- What a task was ordered to be. Big columns come last, so that looking at the small ones never reads them.
CREATE TABLE body (
    k               INTEGER PRIMARY KEY,
    lo              INTEGER NOT NULL,
    type_id         INTEGER NOT NULL,
    queue_id        INTEGER NOT NULL,
    created_ms      INTEGER NOT NULL,
    expires_ms      INTEGER NOT NULL,
    backoff_base_ms INTEGER NOT NULL,
    backoff_max_ms  INTEGER NOT NULL,
    backoff_factor  REAL NOT NULL,
    backoff_jitter  REAL NOT NULL,
    payload_raw     INTEGER NOT NULL CHECK (payload_raw IN (0, 1)),
    document        TEXT,
    key             TEXT,
    external_id     TEXT,
    tags            BLOB,                       -- each: two bytes of length, low one first, and the text
    parent_hi       INTEGER,
    parent_lo       INTEGER,
    team_hi         INTEGER,
    team_lo         INTEGER,
    schedule_hi     INTEGER,
    schedule_lo     INTEGER,
    metadata        BLOB,
    payload         BLOB
);

-- Where each live task stands. It repeats what the engine's memory is rebuilt from at start, so that only this table is
-- read; those columns come first, so that reading them stops early in each row.
CREATE TABLE task (
    k                INTEGER PRIMARY KEY,
    lo               INTEGER NOT NULL,
    type_id          INTEGER NOT NULL,
    queue_id         INTEGER NOT NULL,
    state            INTEGER NOT NULL CHECK (state BETWEEN :SCHEDULED AND :RETRYING),
    priority         INTEGER NOT NULL CHECK (priority BETWEEN :LOW AND :CRITICAL),
    attempt          INTEGER NOT NULL CHECK (attempt >= 0),
    queued_ms        INTEGER NOT NULL,
    scheduled_ms     INTEGER NOT NULL,
    expires_ms       INTEGER NOT NULL,
    document         TEXT,
    created_ms       INTEGER NOT NULL,
    retries          INTEGER NOT NULL CHECK (retries >= 0),
    max_retries      INTEGER NOT NULL,
    timeout_ms       INTEGER NOT NULL,
    started_ms       INTEGER NOT NULL,
    updated_ms       INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
    token            INTEGER NOT NULL,
    outcome          INTEGER NOT NULL CHECK (outcome BETWEEN :OUTCOME_NONE AND :OUTCOME_CANCELLED),
    worker           TEXT,
    lease_ms         INTEGER NOT NULL,
    lease_until_ms   INTEGER NOT NULL,
    attempt_ended_ms INTEGER NOT NULL,
    log_bytes        INTEGER NOT NULL,
    cancel_reason    TEXT,
    progress         REAL,
    progress_message TEXT,
    cost_estimated   REAL,
    cost_actual      REAL,
    cost_tokens      REAL,
    error_code       TEXT,
    error_message    TEXT,
    error_detail     BLOB,
    CHECK (max_retries = -1 OR retries <= max_retries),
    -- RUNNING and holding a lease are one thing; attempt 0 is a container, which is never claimed itself.
    CHECK (CASE WHEN state = :RUNNING AND attempt > 0
                THEN token <> 0 AND worker IS NOT NULL AND lease_until_ms > 0 AND outcome = :OUTCOME_NONE
                ELSE lease_until_ms = 0 END)
);

-- The history: how each ended task ended, its last attempt included.
CREATE TABLE done (
    k                INTEGER PRIMARY KEY,
    state            INTEGER NOT NULL CHECK (state BETWEEN :COMPLETED AND :TIMEOUT),
    priority         INTEGER NOT NULL CHECK (priority BETWEEN :LOW AND :CRITICAL),
    attempt          INTEGER NOT NULL CHECK (attempt >= 0),
    retries          INTEGER NOT NULL CHECK (retries >= 0),
    max_retries      INTEGER NOT NULL,
    timeout_ms       INTEGER NOT NULL,
    scheduled_ms     INTEGER NOT NULL,
    queued_ms        INTEGER NOT NULL,
    started_ms       INTEGER NOT NULL,
    updated_ms       INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
    token            INTEGER NOT NULL,
    outcome          INTEGER NOT NULL CHECK (outcome BETWEEN :OUTCOME_NONE AND :OUTCOME_CANCELLED),
    worker           TEXT,
    lease_ms         INTEGER NOT NULL,
    lease_until_ms   INTEGER NOT NULL,
    attempt_ended_ms INTEGER NOT NULL,
    log_bytes        INTEGER NOT NULL,
    cancel_reason    TEXT,
    progress         REAL,
    progress_message TEXT,
    cost_estimated   REAL,
    cost_actual      REAL,
    cost_tokens      REAL,
    error_code       TEXT,
    error_message    TEXT,
    error_detail     BLOB,
    finished_ms      INTEGER NOT NULL,
    cancelled_ms     INTEGER NOT NULL,
    result           BLOB,
    CHECK (max_retries = -1 OR retries <= max_retries)
);

-- Lists of what went wrong are asked for often and short; COMPLETED (5) is nearly everything and needs no index.
CREATE INDEX done_rare ON done (state) WHERE state > :COMPLETED;

-- Attempts after which the task went on. The last attempt of a finished task is in `done`, the running one in `task`.
CREATE TABLE attempt (
    k             INTEGER NOT NULL,
    number        INTEGER NOT NULL CHECK (number >= 1),
    outcome       INTEGER NOT NULL CHECK (outcome BETWEEN :OUTCOME_COMPLETED AND :OUTCOME_CANCELLED),
    worker        TEXT,
    started_ms    INTEGER NOT NULL,
    finished_ms   INTEGER NOT NULL,
    error_code    TEXT,
    error_message TEXT,
    error_detail  BLOB,
    PRIMARY KEY (k, number)
) WITHOUT ROWID;

-- What attempts said, piece by piece. until_byte counts everything said up to the end of the piece: appending needs
-- only the last row, and whatever lies TASK_LOG_MAX below the end goes.
CREATE TABLE log (
    k          INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    until_byte INTEGER NOT NULL,
    text       BLOB NOT NULL,
    PRIMARY KEY (k, number, until_byte)
) WITHOUT ROWID;

-- Idempotency keys live as long as their task.
CREATE TABLE key (
    key TEXT PRIMARY KEY NOT NULL,
    k   INTEGER NOT NULL
) WITHOUT ROWID;

-- Who holds a document: the whole of G3 is this primary key.
CREATE TABLE doc_lease (
    document TEXT PRIMARY KEY NOT NULL,
    k        INTEGER NOT NULL,
    attempt  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE queue (
    name            TEXT PRIMARY KEY NOT NULL,
    paused          INTEGER NOT NULL CHECK (paused IN (0, 1)),
    max_concurrent  INTEGER NOT NULL CHECK (max_concurrent >= 0),
    rate_per_second REAL NOT NULL CHECK (rate_per_second >= 0),
    burst           INTEGER NOT NULL CHECK (burst >= 0)
) WITHOUT ROWID;

-- Tasks per queue and state: never counted, written once a commit for each queue it touched.
CREATE TABLE counter (
    queue_id  INTEGER PRIMARY KEY,
    scheduled INTEGER NOT NULL,
    waiting   INTEGER NOT NULL,
    queued    INTEGER NOT NULL,
    running   INTEGER NOT NULL,
    retrying  INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    timeout   INTEGER NOT NULL
);
