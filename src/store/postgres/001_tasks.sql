-- store/postgres/001_tasks.sql: the first schema.
-- Bodies are written once; `task` holds the small hot row of each live task and `done` the history, so that the hot
-- table stays small whatever the history weighs. Ids are UUIDv7: their order is the order of creation.
-- Texts of users are bytes: they may hold any character, NUL too, and compare bytewise. Times are UTC milliseconds, 0 when
-- unset. States, priorities and outcomes are the numbers of task/task.h; the CHECKs repeat the life of a task, so that
-- even a mistake of ours cannot be stored.

CREATE TABLE meta (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    version       integer NOT NULL,             -- the last migration that was run
    oldest_reader integer NOT NULL,             -- an errand that knows fewer migrations than this must not work here
    epoch         bigint NOT NULL DEFAULT 0     -- grows with each writing open
);

-- What a task was ordered to be.
CREATE TABLE body (
    id              uuid PRIMARY KEY,
    type            text COLLATE "C" NOT NULL,
    queue           text COLLATE "C" NOT NULL,
    created_ms      bigint NOT NULL,
    expires_ms      bigint NOT NULL,
    backoff_base_ms bigint NOT NULL,
    backoff_max_ms  bigint NOT NULL,
    backoff_factor  double precision NOT NULL,
    backoff_jitter  double precision NOT NULL,
    payload_raw     boolean NOT NULL,
    container       boolean NOT NULL,
    continues       boolean NOT NULL,
    runs_anyway     boolean NOT NULL,
    document        bytea,
    key             bytea,
    external_id     bytea,
    tags            bytea,                      -- each: two bytes of length, low one first, and the text
    parent          uuid,
    team            uuid,
    schedule        uuid,
    batch           uuid,
    metadata        bytea,
    payload         bytea
);
CREATE UNIQUE INDEX body_key ON body (key) WHERE key IS NOT NULL;
CREATE INDEX body_document ON body (document, id) WHERE document IS NOT NULL;
CREATE INDEX body_external ON body (external_id, id) WHERE external_id IS NOT NULL;
CREATE INDEX body_parent ON body (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX body_team ON body (team, id) WHERE team IS NOT NULL;
CREATE INDEX body_schedule ON body (schedule, id) WHERE schedule IS NOT NULL;

CREATE TABLE tag (
    tag bytea NOT NULL,
    id  uuid NOT NULL,
    PRIMARY KEY (tag, id)
);
CREATE INDEX tag_id ON tag (id);

-- Where each live task stands. It repeats what a claim looks at.
CREATE TABLE task (
    id               uuid PRIMARY KEY,
    type             text COLLATE "C" NOT NULL,
    queue            text COLLATE "C" NOT NULL,
    document         bytea,
    batch            uuid,
    container        boolean NOT NULL,
    expires_ms       bigint NOT NULL,
    -- Whether it may be proposed: false while others of its document, batch, queue and type stand before it. At least the
    -- best of these has it, so that nobody who looks for work must walk along the line behind a document.
    offered          boolean NOT NULL DEFAULT true,
    state            integer NOT NULL CHECK (state BETWEEN :SCHEDULED AND :RETRYING),
    priority         integer NOT NULL CHECK (priority BETWEEN :LOW AND :CRITICAL),
    attempt          integer NOT NULL CHECK (attempt >= 0),
    retries          integer NOT NULL CHECK (retries >= 0),
    max_retries      integer NOT NULL,
    timeout_ms       bigint NOT NULL,
    scheduled_ms     bigint NOT NULL,
    queued_ms        bigint NOT NULL,
    started_ms       bigint NOT NULL,
    updated_ms       bigint NOT NULL,
    cancel_requested boolean NOT NULL,
    token            bigint NOT NULL,
    outcome          integer NOT NULL CHECK (outcome BETWEEN :OUTCOME_NONE AND :OUTCOME_CANCELLED),
    worker           bytea,
    lease_ms         bigint NOT NULL,
    lease_until_ms   bigint NOT NULL,
    attempt_ended_ms bigint NOT NULL,
    log_bytes        integer NOT NULL,
    unmet            integer NOT NULL CHECK (unmet >= 0),
    cancel_reason    bytea,
    progress         double precision,
    progress_message bytea,
    cost_estimated   double precision,
    cost_actual      double precision,
    cost_tokens      double precision,
    error_code       bytea,
    error_message    bytea,
    error_detail     bytea,
    -- When something happens to it by itself; NULL: never. An expiry is for tasks that were never started, and not for one
    -- that was queued after it: that one was revived by hand.
    due_ms           bigint GENERATED ALWAYS AS (
        CASE WHEN state = :RUNNING THEN CASE WHEN container THEN NULL
                                      ELSE least(lease_until_ms, CASE WHEN timeout_ms > 0 THEN started_ms + timeout_ms END)
                                 END
             WHEN state = :RETRYING THEN scheduled_ms
             ELSE least(CASE WHEN state = :SCHEDULED THEN scheduled_ms END,
                        CASE WHEN expires_ms <> 0 AND attempt = 0 AND queued_ms < expires_ms THEN expires_ms END)
        END) STORED,
    CHECK (max_retries = -1 OR retries <= max_retries),
    -- A container is never claimed itself; of the others, RUNNING and holding a lease are one thing.
    CHECK (NOT container OR attempt = 0),
    CHECK (CASE WHEN state = :RUNNING AND NOT container
                THEN attempt > 0 AND token <> 0 AND worker IS NOT NULL AND lease_until_ms > 0 AND outcome = :OUTCOME_NONE
                ELSE lease_until_ms = 0 END)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- What a claim walks along: G4 within each queue and type. All directions are the same, so that a walk can go on behind
-- the last row it saw.
CREATE INDEX task_line ON task (queue, type, (-priority), queued_ms, id)
 WHERE state = :QUEUED AND offered AND NOT container;
-- Who waits for a document; and those of them that are not proposed.
CREATE INDEX task_document ON task (document, (coalesce(batch, '00000000-0000-0000-0000-000000000000')), queue, type, (-priority), queued_ms, id)
 WHERE state = :QUEUED AND NOT container AND document IS NOT NULL;
CREATE INDEX task_parked ON task (document, (coalesce(batch, '00000000-0000-0000-0000-000000000000')), queue, type, (-priority), queued_ms, id)
 WHERE state = :QUEUED AND NOT container AND NOT offered;
CREATE INDEX task_due ON task (due_ms, id) WHERE due_ms IS NOT NULL;
CREATE INDEX task_running ON task (queue) WHERE state = :RUNNING AND NOT container;
CREATE INDEX task_held ON task (document) WHERE state = :RUNNING AND NOT container AND document IS NOT NULL;
CREATE INDEX task_cancelled ON task (id) WHERE state = :RUNNING AND cancel_requested;

-- The history: how each ended task ended, its last attempt included.
CREATE TABLE done (
    id               uuid PRIMARY KEY,
    state            integer NOT NULL CHECK (state BETWEEN :COMPLETED AND :TIMEOUT),
    priority         integer NOT NULL CHECK (priority BETWEEN :LOW AND :CRITICAL),
    attempt          integer NOT NULL CHECK (attempt >= 0),
    retries          integer NOT NULL CHECK (retries >= 0),
    max_retries      integer NOT NULL,
    timeout_ms       bigint NOT NULL,
    scheduled_ms     bigint NOT NULL,
    queued_ms        bigint NOT NULL,
    started_ms       bigint NOT NULL,
    updated_ms       bigint NOT NULL,
    cancel_requested boolean NOT NULL,
    token            bigint NOT NULL,
    outcome          integer NOT NULL CHECK (outcome BETWEEN :OUTCOME_NONE AND :OUTCOME_CANCELLED),
    worker           bytea,
    lease_ms         bigint NOT NULL,
    lease_until_ms   bigint NOT NULL,
    attempt_ended_ms bigint NOT NULL,
    log_bytes        integer NOT NULL,
    unmet            integer NOT NULL CHECK (unmet >= 0),
    cancel_reason    bytea,
    progress         double precision,
    progress_message bytea,
    cost_estimated   double precision,
    cost_actual      double precision,
    cost_tokens      double precision,
    error_code       bytea,
    error_message    bytea,
    error_detail     bytea,
    finished_ms      bigint NOT NULL,
    cancelled_ms     bigint NOT NULL,
    result           bytea,
    CHECK (max_retries = -1 OR retries <= max_retries)
);
-- Lists of what went wrong are asked for often and short; COMPLETED (5) is nearly everything and needs no index.
CREATE INDEX done_rare ON done (id) WHERE state > :COMPLETED;

-- Attempts after which the task went on. The last attempt of a finished task is in `done`, the running one in `task`.
CREATE TABLE attempt (
    id            uuid NOT NULL,
    number        integer NOT NULL CHECK (number >= 1),
    outcome       integer NOT NULL CHECK (outcome BETWEEN :OUTCOME_COMPLETED AND :OUTCOME_CANCELLED),
    worker        bytea,
    started_ms    bigint NOT NULL,
    finished_ms   bigint NOT NULL,
    error_code    bytea,
    error_message bytea,
    error_detail  bytea,
    PRIMARY KEY (id, number)
);

-- What attempts said, piece by piece. until_byte counts everything said up to the end of the piece: appending needs
-- only the last row, and whatever lies TASK_LOG_MAX below the end goes.
CREATE TABLE log (
    id         uuid NOT NULL,
    number     integer NOT NULL,
    until_byte bigint NOT NULL,
    text       bytea NOT NULL,
    PRIMARY KEY (id, number, until_byte)
);

CREATE TABLE dependency (
    id uuid NOT NULL,
    "on" uuid NOT NULL,
    PRIMARY KEY (id, "on")
);
CREATE INDEX dependency_on ON dependency ("on", id);

-- Who holds a document: the whole of G3 is this primary key. The holder is a task, or the outermost container
-- (batch), which lets go of all it holds at once. `kept`: its task ended, but a run function of the store `node` has not
-- returned yet. `lock` is what the same lock is worth elsewhere (broker.h).
CREATE TABLE doc_lease (
    document bytea PRIMARY KEY,
    holder   uuid NOT NULL,
    batch    boolean NOT NULL,
    kept     boolean NOT NULL DEFAULT false,
    node     bigint NOT NULL,
    lock     text NOT NULL,
    since_ms bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX doc_lease_batch ON doc_lease (holder) WHERE batch;
CREATE INDEX doc_lease_kept ON doc_lease (node) WHERE kept;

-- Settings, and the fleet's bucket of the rate limit as it was at tokens_ms.
CREATE TABLE queue (
    name            text COLLATE "C" PRIMARY KEY,
    paused          boolean NOT NULL,
    max_concurrent  bigint NOT NULL CHECK (max_concurrent >= 0),
    rate_per_second double precision NOT NULL CHECK (rate_per_second >= 0),
    burst           bigint NOT NULL CHECK (burst >= 0),
    tokens          double precision NOT NULL DEFAULT 0,
    tokens_ms       bigint NOT NULL DEFAULT 0   -- 0: the bucket is full
) WITH (fillfactor = 70);

-- Every writing store that is open: its own number, and when it was last known to live by the database's clock.
CREATE TABLE writer (
    node    bigint PRIMARY KEY,
    seen_ms bigint NOT NULL
);

-- Tasks per queue and state, summed over the stores that counted them: each has rows of its own, so that two nodes never
-- wait for each other here. What the dead counted is added up under node 0.
CREATE TABLE counter (
    node      bigint NOT NULL,
    queue     text COLLATE "C" NOT NULL,
    scheduled bigint NOT NULL,
    waiting   bigint NOT NULL,
    queued    bigint NOT NULL,
    running   bigint NOT NULL,
    retrying  bigint NOT NULL,
    completed bigint NOT NULL,
    failed    bigint NOT NULL,
    cancelled bigint NOT NULL,
    timeout   bigint NOT NULL,
    PRIMARY KEY (node, queue)
) WITH (fillfactor = 50);
