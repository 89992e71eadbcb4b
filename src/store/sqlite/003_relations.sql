-- store/sqlite/003_relations.sql: children, dependencies, and documents that a batch holds.
-- Nothing here existed before: no file has such tasks yet. A task without relations gains no row.

ALTER TABLE body ADD COLUMN container INTEGER NOT NULL DEFAULT 0;
ALTER TABLE body ADD COLUMN continues INTEGER NOT NULL DEFAULT 0;
ALTER TABLE body ADD COLUMN runs_anyway INTEGER NOT NULL DEFAULT 0;
ALTER TABLE body ADD COLUMN batch_hi INTEGER;
ALTER TABLE body ADD COLUMN batch_lo INTEGER;
ALTER TABLE done ADD COLUMN unmet INTEGER NOT NULL DEFAULT 0;

-- The hot table anew, for its CHECKs (only a container runs without a lease) and because the scan at start reads only
-- the first columns: `related` tells it whether to read more of this row. Ids are 0 when unset.
ALTER TABLE task RENAME TO task_002;
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
    related          INTEGER NOT NULL CHECK (related IN (0, 1)), -- some of the next ones are not 0, or may be
    parent_hi        INTEGER NOT NULL,
    parent_lo        INTEGER NOT NULL,
    batch_hi         INTEGER NOT NULL,
    batch_lo         INTEGER NOT NULL,
    container        INTEGER NOT NULL CHECK (container IN (0, 1)),
    continues        INTEGER NOT NULL CHECK (continues IN (0, 1)),
    runs_anyway      INTEGER NOT NULL CHECK (runs_anyway IN (0, 1)),
    unmet            INTEGER NOT NULL CHECK (unmet >= 0),
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
    -- A container is never claimed itself; of the others, RUNNING and holding a lease are one thing.
    CHECK (container = 0 OR attempt = 0),
    CHECK (CASE WHEN state = :RUNNING AND container = 0
                THEN attempt > 0 AND token <> 0 AND worker IS NOT NULL AND lease_until_ms > 0 AND outcome = :OUTCOME_NONE
                ELSE lease_until_ms = 0 END)
);
INSERT INTO task
SELECT k, lo, type_id, queue_id, state, priority, attempt, queued_ms, scheduled_ms, expires_ms, document, 0, 0,
       0, 0, 0, 0, 0, 0, 0, created_ms, retries, max_retries, timeout_ms, started_ms, updated_ms,
       cancel_requested, token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes,
       cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens, error_code,
       error_message, error_detail
  FROM task_002;
DROP TABLE task_002;

-- Both are written with their task and go with it. Keys only grow, so children lie in order of creation.
CREATE TABLE child (
    parent_k INTEGER NOT NULL,
    k        INTEGER NOT NULL,
    PRIMARY KEY (parent_k, k)
) WITHOUT ROWID;

CREATE TABLE dependency (
    k    INTEGER NOT NULL,
    on_k INTEGER NOT NULL,
    PRIMARY KEY (k, on_k)
) WITHOUT ROWID;
CREATE INDEX dependency_on ON dependency (on_k, k);

-- k holds the document: a task, or the outermost container (batch = 1), which lets go of all it holds at once.
ALTER TABLE doc_lease DROP COLUMN attempt;
ALTER TABLE doc_lease ADD COLUMN batch INTEGER NOT NULL DEFAULT 0 CHECK (batch IN (0, 1));
CREATE INDEX doc_lease_batch ON doc_lease (k) WHERE batch = 1;
