-- store/sqlite/007_packed.sql: what no statement asks about lies in one column of each table, packed (store/pack.h).
-- Writing and reading a row costs by the column, and a task had 24 in its body, 43 in its hot row and 34 in the history:
-- a whole life is nearly twice as fast with these few. A hot row repeats, inside `rest`, what the engine's memory is rebuilt
-- from at start. The old CHECKs on columns that are packed now are the doctor's to make, and assertions of the engine.

ALTER TABLE body RENAME TO body_006;
CREATE TABLE body (
    k           INTEGER PRIMARY KEY,
    lo          INTEGER NOT NULL,
    type_id     INTEGER NOT NULL,
    queue_id    INTEGER NOT NULL,
    created_ms  INTEGER NOT NULL,
    rest        BLOB NOT NULL,
    payload     BLOB
);
INSERT INTO body
SELECT k, lo, type_id, queue_id, created_ms,
       pack(:PACKED_expires_ms, expires_ms, :PACKED_backoff_base_ms, backoff_base_ms, :PACKED_backoff_max_ms, backoff_max_ms,
            :PACKED_backoff_factor, backoff_factor, :PACKED_backoff_jitter, backoff_jitter,
            :PACKED_payload_raw, payload_raw, :PACKED_container, container, :PACKED_continues, continues,
            :PACKED_runs_anyway, runs_anyway, :PACKED_document, document, :PACKED_key, key,
            :PACKED_external_id, external_id, :PACKED_tags, tags, :PACKED_parent, parent_hi, parent_lo,
            :PACKED_team, team_hi, team_lo, :PACKED_schedule, schedule_hi, schedule_lo,
            :PACKED_batch, batch_hi, batch_lo, :PACKED_metadata, metadata, :PACKED_origin, origin),
       payload
  FROM body_006
 ORDER BY k;
DROP TABLE body_006;

ALTER TABLE task RENAME TO task_006;
CREATE TABLE task (
    k           INTEGER PRIMARY KEY,
    lo          INTEGER NOT NULL,
    type_id     INTEGER NOT NULL,
    queue_id    INTEGER NOT NULL,
    state       INTEGER NOT NULL CHECK (state BETWEEN :SCHEDULED AND :RETRYING),
    priority    INTEGER NOT NULL CHECK (priority BETWEEN :LOW AND :CRITICAL),
    attempt     INTEGER NOT NULL,
    rest        BLOB NOT NULL
);
INSERT INTO task
SELECT k, lo, type_id, queue_id, state, priority, attempt,
       pack(:PACKED_expires_ms, expires_ms, :PACKED_document, document, :PACKED_parent, parent_hi, parent_lo,
            :PACKED_batch, batch_hi, batch_lo, :PACKED_container, container, :PACKED_continues, continues,
            :PACKED_runs_anyway, runs_anyway, :PACKED_max_retries, max_retries, :PACKED_timeout_ms, timeout_ms,
            :PACKED_scheduled_ms, scheduled_ms, :PACKED_queued_ms, queued_ms, :PACKED_updated_ms, updated_ms,
            :PACKED_unmet, unmet, :PACKED_retries, retries, :PACKED_started_ms, started_ms,
            :PACKED_cancel_requested, cancel_requested, :PACKED_token, token, :PACKED_outcome, outcome,
            :PACKED_worker, worker, :PACKED_lease_ms, lease_ms, :PACKED_lease_until_ms, lease_until_ms,
            :PACKED_attempt_ended_ms, attempt_ended_ms, :PACKED_log_bytes, log_bytes,
            :PACKED_cancel_reason, cancel_reason, :PACKED_progress, progress,
            :PACKED_progress_message, progress_message, :PACKED_cost_estimated, cost_estimated,
            :PACKED_cost_actual, cost_actual, :PACKED_cost_tokens, cost_tokens, :PACKED_error_code, error_code,
            :PACKED_error_message, error_message, :PACKED_error_detail, error_detail)
  FROM task_006
 ORDER BY k;
DROP TABLE task_006;

ALTER TABLE done RENAME TO done_006;
CREATE TABLE done (
    k           INTEGER PRIMARY KEY,
    state       INTEGER NOT NULL CHECK (state BETWEEN :COMPLETED AND :TIMEOUT),
    priority    INTEGER NOT NULL CHECK (priority BETWEEN :LOW AND :CRITICAL),
    attempt     INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    rest        BLOB NOT NULL,
    result      BLOB
);
INSERT INTO done
SELECT k, state, priority, attempt, finished_ms,
       pack(:PACKED_max_retries, max_retries, :PACKED_timeout_ms, timeout_ms, :PACKED_scheduled_ms, scheduled_ms,
            :PACKED_queued_ms, queued_ms, :PACKED_updated_ms, updated_ms, :PACKED_unmet, unmet, :PACKED_retries, retries,
            :PACKED_started_ms, started_ms, :PACKED_cancel_requested, cancel_requested, :PACKED_token, token,
            :PACKED_outcome, outcome, :PACKED_worker, worker, :PACKED_lease_ms, lease_ms,
            :PACKED_lease_until_ms, lease_until_ms, :PACKED_attempt_ended_ms, attempt_ended_ms,
            :PACKED_log_bytes, log_bytes, :PACKED_cancel_reason, cancel_reason, :PACKED_progress, progress,
            :PACKED_progress_message, progress_message, :PACKED_cost_estimated, cost_estimated,
            :PACKED_cost_actual, cost_actual, :PACKED_cost_tokens, cost_tokens, :PACKED_error_code, error_code,
            :PACKED_error_message, error_message, :PACKED_error_detail, error_detail, :PACKED_cancelled_ms, cancelled_ms),
       result
  FROM done_006
 ORDER BY k;
DROP TABLE done_006;
CREATE INDEX done_rare ON done (state) WHERE state > :COMPLETED;
