-- store/sqlite/load_running.sql: the few running tasks of a scan are wanted with their leases.
SELECT state, priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms,
       updated_ms, cancel_requested, token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms,
       log_bytes, unmet, cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens,
       error_code, error_message, error_detail
  FROM task
 WHERE k = :k;
