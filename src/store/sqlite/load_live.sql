-- store/sqlite/load_live.sql: a live task with its order; the same columns as load_done.sql.
-- What is longer than :omit_over bytes is not read at all; -1 leaves all payloads and results out.
SELECT b.lo, b.type_id, b.queue_id, b.created_ms, b.expires_ms, b.backoff_base_ms, b.backoff_max_ms,
       b.backoff_factor, b.backoff_jitter, b.payload_raw, b.container, b.continues, b.runs_anyway, b.document,
       b.key, b.external_id, b.tags, b.parent_hi, b.parent_lo, b.team_hi, b.team_lo, b.schedule_hi,
       b.schedule_lo, b.batch_hi, b.batch_lo, b.metadata,
       CASE WHEN length(b.payload) > :omit_over THEN NULL ELSE b.payload END, length(b.payload), t.state,
       t.priority, t.attempt, t.retries, t.max_retries, t.timeout_ms, t.scheduled_ms, t.queued_ms,
       t.started_ms, t.updated_ms, t.cancel_requested, t.token, t.outcome, t.worker, t.lease_ms,
       t.lease_until_ms, t.attempt_ended_ms, t.log_bytes, t.unmet, t.cancel_reason, t.progress, t.progress_message,
       t.cost_estimated, t.cost_actual, t.cost_tokens, t.error_code, t.error_message, t.error_detail, 0, 0,
       NULL, NULL
  FROM body b JOIN task t ON t.k = b.k
 WHERE b.k = :k;
