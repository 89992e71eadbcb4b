-- store/postgres/scan_live.sql: live tasks in order of creation, a page at a time.
SELECT b.id, b.type, b.queue, b.document, b.parent, b.batch, b.container, b.continues, b.runs_anyway, b.expires_ms,
       t.state, t.priority, t.attempt, t.retries, t.max_retries, t.timeout_ms, t.scheduled_ms, t.queued_ms,
       t.started_ms, t.updated_ms, t.cancel_requested, t.token, t.outcome, t.worker, t.lease_ms, t.lease_until_ms,
       t.attempt_ended_ms, t.log_bytes, t.unmet, t.cancel_reason, t.progress, t.progress_message, t.cost_estimated,
       t.cost_actual, t.cost_tokens, t.error_code, t.error_message, t.error_detail
  FROM task t
  JOIN body b ON b.id = t.id
 WHERE $1::uuid IS NULL OR t.id > $1
 ORDER BY t.id
 LIMIT $2;
