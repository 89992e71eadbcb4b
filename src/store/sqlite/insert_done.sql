-- store/sqlite/insert_done.sql: a task enters the history.
INSERT INTO done (k, state, priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms,
      updated_ms, cancel_requested, token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms,
      log_bytes, unmet, cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens,
      error_code, error_message, error_detail, finished_ms, cancelled_ms, result)
VALUES (:k, :state, :priority, :attempt, :retries, :max_retries, :timeout_ms, :scheduled_ms, :queued_ms,
        :started_ms, :updated_ms, :cancel_requested, :token, :outcome, :worker, :lease_ms, :lease_until_ms,
        :attempt_ended_ms, :log_bytes, :unmet, :cancel_reason, :progress, :progress_message, :cost_estimated,
        :cost_actual, :cost_tokens, :error_code, :error_message, :error_detail, :finished_ms, :cancelled_ms,
        :result);
