-- store/postgres/load_done.sql: finished tasks with their orders; the same columns as load_live.sql.
SELECT k.n, b.id, b.type, b.queue, b.created_ms, b.expires_ms, b.backoff_base_ms, b.backoff_max_ms,
       b.backoff_factor, b.backoff_jitter, b.payload_raw, b.container, b.continues, b.runs_anyway, b.document,
       b.key, b.external_id, b.tags, b.parent, b.team, b.schedule, b.batch, b.metadata,
       CASE WHEN octet_length(b.payload) > k.omit_over THEN NULL ELSE b.payload END,
       b.payload IS NOT NULL, d.state, d.priority, d.attempt, d.retries, d.max_retries, d.timeout_ms,
       d.scheduled_ms, d.queued_ms, d.started_ms, d.updated_ms, d.cancel_requested, d.token, d.outcome, d.worker,
       d.lease_ms, d.lease_until_ms, d.attempt_ended_ms, d.log_bytes, d.unmet, d.cancel_reason, d.progress,
       d.progress_message, d.cost_estimated, d.cost_actual, d.cost_tokens, d.error_code, d.error_message,
       d.error_detail, d.finished_ms, d.cancelled_ms,
       CASE WHEN octet_length(d.result) > k.omit_over THEN NULL ELSE d.result END, d.result IS NOT NULL
  FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS k (id, omit_over, n)
  JOIN done d ON d.id = k.id AND d.id = ANY ($1)
  JOIN body b ON b.id = d.id
 ORDER BY d.id
