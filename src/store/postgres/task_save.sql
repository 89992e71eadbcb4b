-- store/postgres/task_save.sql: transitions, each by one compare-and-set, many in one statement.
-- Each says which changes were made: a row that is not as its caller saw it is passed over. What a statement takes is what save.c gives:
-- who the task was, what becomes of its document, and where it stands now.

-- The frequent ones have statements of their own, which write only what they change and leave the rest as the row has it.

-- fragment: applied
-- Which changes were made. Where the caller took them all for certain (tx.c) the transaction fails if one was not.
SELECT array_agg(n), 1 / CASE WHEN $sure::boolean AND count(*) < cardinality($id::uuid[]) THEN 0 ELSE 1 END FROM changed;

-- fragment: live_changes
-- Of tasks that live afterwards and take or leave a document, or come back to life. `takes`: it needs its document; `ends` as in let_go.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_state integer, was_attempt integer, document bytea, takes boolean, ends integer, holder uuid,
                 in_family boolean, lock text, node bigint, due_ms bigint, @standing),
           generate_subscripts($id, 1) AS n
)

-- fragment: done_changes
-- Of tasks that have ended afterwards, and leave a document, or had ended before.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_state integer, was_attempt integer, document bytea, ends integer, node bigint, @standing, @end),
           generate_subscripts($id, 1) AS n
)

-- fragment: take
-- The documents that are needed. One that somebody else holds (G3) is not granted: `leased` is what this statement was granted.
leased AS (
    INSERT INTO doc_lease AS l (document, holder, batch, node, lock, since_ms)
    SELECT DISTINCT ON (document) document, holder, in_family, node, lock, updated_ms
      FROM fit
     ORDER BY document
        ON CONFLICT (document) DO UPDATE
       SET kept = false, node = excluded.node, lock = excluded.lock
     WHERE l.holder = excluded.holder
    RETURNING document
)

-- fragment: let_go
-- Documents that are no longer needed (enum document_end).
freed AS (
    DELETE FROM doc_lease
     WHERE document = ANY (ARRAY (SELECT document FROM changed WHERE ends = :END_FREES))
       AND holder = ANY (ARRAY (SELECT id FROM changed WHERE ends = :END_FREES))
), freed_all AS (
    DELETE FROM doc_lease WHERE batch AND holder = ANY (ARRAY (SELECT id FROM changed WHERE ends = :END_FREES_ALL))
), kept AS (
    UPDATE doc_lease
       SET kept = true, node = (SELECT node FROM changed LIMIT 1)
     WHERE document = ANY (ARRAY (SELECT document FROM changed WHERE ends = :END_KEEPS))
       AND holder = ANY (ARRAY (SELECT id FROM changed WHERE ends = :END_KEEPS))
)

-- name: start_tasks
-- Queued tasks begin an attempt. `made`: the transaction that created it, where nobody looked at its row since (fresh.h); 0: somebody did.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_attempt integer, made xid, started_ms bigint, token bigint, worker bytea, lease_ms bigint,
                 lease_until_ms bigint),
           generate_subscripts($id, 1) AS n
), changed AS (
    UPDATE task t
       SET state = :RUNNING, attempt = c.was_attempt + 1, started_ms = c.started_ms, updated_ms = c.started_ms, token = c.token,
           worker = c.worker, lease_ms = c.lease_ms, lease_until_ms = c.lease_until_ms, outcome = :OUTCOME_NONE, attempt_ended_ms = 0,
           log_bytes = 0, progress = NULL, progress_message = NULL, error_code = NULL, error_message = NULL, error_detail = NULL,
           due_ms = least(c.lease_until_ms, CASE WHEN t.timeout_ms > 0 THEN c.started_ms + t.timeout_ms END), offered = true
      FROM c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = :QUEUED AND t.attempt = c.was_attempt AND c.made IN (t.xmin, '0'::xid)
    RETURNING c.n
)
@applied

-- name: complete_tasks
-- Attempts that run end well, and their tasks with them: the rest of a row goes to the history as it is. `alone`: it was not loaded, so
-- nobody looked whether others have come to depend on it.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_attempt integer, alone boolean, finished_ms bigint, result bytea), generate_subscripts($id, 1) AS n
), changed AS (
    DELETE FROM task t
     USING c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = :RUNNING AND t.attempt = c.was_attempt AND NOT (c.alone AND t.awaited)
    RETURNING c.n, c.finished_ms AS ended_ms, c.result, :COMPLETED AS end_state, :OUTCOME_COMPLETED AS end_outcome, t.*
), ended AS (
    INSERT INTO done (id, @standing, @end)
    SELECT t.id, @standing(t., state = t.end_state, updated_ms = t.ended_ms, cancel_requested = false, outcome = t.end_outcome,
                           lease_until_ms = 0, attempt_ended_ms = t.ended_ms, cancel_reason = NULL),
           @end(t., finished_ms = t.ended_ms, cancelled_ms = 0)
      FROM changed t
)
@applied

-- name: save_tasks
-- Live tasks change and stay live: one row, one compare-and-set.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_state integer, was_attempt integer, due_ms bigint, @standing), generate_subscripts($id, 1) AS n
), changed AS (
    UPDATE task t
       SET @set_standing(c.), due_ms = c.due_ms, offered = true
      FROM c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
    RETURNING c.n
)
@applied

-- name: save_on_documents
-- As save_tasks, for tasks of which some take or leave their documents. One that was not granted its document is passed
-- over, too. No task and no document comes twice in one call, but for members of one family.
@live_changes, fit AS MATERIALIZED (
    SELECT c.n, c.document, c.holder, c.in_family, c.node, c.lock, c.updated_ms
      FROM c
      JOIN task t ON t.id = c.id
     WHERE c.takes AND t.id = ANY ($id) AND t.state = c.was_state AND t.attempt = c.was_attempt
     ORDER BY t.id
       FOR UPDATE OF t
), @take, changed AS (
    UPDATE task t
       SET @set_standing(c.), due_ms = c.due_ms, offered = true
      FROM c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.n, c.id, c.document, c.ends, c.node
), @let_go
@applied

-- name: finish_tasks
-- Tasks that end move to the history, each by one compare-and-set.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_state integer, was_attempt integer, @standing, @end), generate_subscripts($id, 1) AS n
), changed AS (
    DELETE FROM task t
     USING c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
    RETURNING c.*
), ended AS (
    INSERT INTO done (id, @standing, @end)
    SELECT c.id, @standing(c.), @end(c.)
      FROM changed c
)
@applied

-- name: finish_on_documents
-- As finish_tasks, for tasks of which some leave their documents.
@done_changes, changed AS (
    DELETE FROM task t
     USING c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
    RETURNING c.*
), ended AS (
    INSERT INTO done (id, @standing, @end)
    SELECT c.id, @standing(c.), @end(c.)
      FROM changed c
), @let_go
@applied

-- name: revise_tasks
-- Finished tasks that change and stay finished, each by one compare-and-set.
@done_changes, changed AS (
    UPDATE done t
       SET @set_standing(c.), @set_end(c.)
      FROM c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt AND c.node IS NOT NULL
    RETURNING c.n
)
@applied

-- name: revive_tasks
-- Finished tasks live again: they move back, each by one compare-and-set.
-- What the hot row repeats of the order comes from the body. As in save_on_documents, a container that runs at
-- once needs its document. `ends` says nothing: what has ended holds no document.
@live_changes, fit AS MATERIALIZED (
    SELECT c.n, c.document, c.holder, c.in_family, c.node, c.lock, c.updated_ms
      FROM c
      JOIN done t ON t.id = c.id
     WHERE c.takes AND t.id = ANY ($id) AND t.state = c.was_state AND t.attempt = c.was_attempt
     ORDER BY t.id
       FOR UPDATE OF t
), @take, changed AS (
    DELETE FROM done t
     USING c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.*
), live AS (
    INSERT INTO task (id, type, queue, document, batch, container, expires_ms, due_ms, awaited, depends, @standing)
    SELECT b.id, b.type, b.queue, b.document, b.batch, b.container, b.expires_ms, c.due_ms,
           EXISTS (SELECT 1 FROM dependency x WHERE x."on" = b.id), EXISTS (SELECT 1 FROM dependency x WHERE x.id = b.id), @standing(c.)
      FROM changed c
      JOIN body b ON b.id = c.id
)
@applied
