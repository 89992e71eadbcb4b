-- store/sqlite/load_done.sql: a finished task with its order; the same columns as load_live.sql.
-- What is longer than :omit_over bytes is not read at all; -1 leaves all payloads and results out.
SELECT b.lo, b.type_id, b.queue_id, b.created_ms, b.expires_ms, b.backoff_base_ms, b.backoff_max_ms,
       b.backoff_factor, b.backoff_jitter, b.payload_raw, b.container, b.continues, b.runs_anyway, b.document,
       b.key, b.external_id, b.tags, b.parent_hi, b.parent_lo, b.team_hi, b.team_lo, b.schedule_hi,
       b.schedule_lo, b.batch_hi, b.batch_lo, b.metadata,
       CASE WHEN length(b.payload) > :omit_over THEN NULL ELSE b.payload END, length(b.payload), d.state,
       d.priority, d.attempt, d.retries, d.max_retries, d.timeout_ms, d.scheduled_ms, d.queued_ms,
       d.started_ms, d.updated_ms, d.cancel_requested, d.token, d.outcome, d.worker, d.lease_ms,
       d.lease_until_ms, d.attempt_ended_ms, d.log_bytes, d.unmet, d.cancel_reason, d.progress, d.progress_message,
       d.cost_estimated, d.cost_actual, d.cost_tokens, d.error_code, d.error_message, d.error_detail,
       d.finished_ms, d.cancelled_ms, CASE WHEN length(d.result) > :omit_over THEN NULL ELSE d.result END,
       length(d.result)
  FROM body b JOIN done d ON d.k = b.k
 WHERE b.k = :k;
