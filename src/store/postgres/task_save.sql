-- store/postgres/task_save.sql: transitions, each by one compare-and-set, many in one statement.
-- Each says which changes were made: a row that is not as its caller saw it is passed over. What a statement takes is what save.c gives:
-- who the task was, what becomes of its document, and where it stands now.

-- fragment: live_changes
-- Of tasks that live afterwards. `takes`: it needs its document; `ends` as in let_go.
WITH c AS MATERIALIZED (
    SELECT @rows(id uuid, was_state integer, was_attempt integer, document bytea, takes boolean, ends integer, holder uuid,
                 in_family boolean, lock text, node bigint, @standing),
           generate_subscripts($id, 1) AS n
)

-- fragment: done_changes
-- Of tasks that have ended afterwards.
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

-- name: save_tasks
-- Live tasks change and stay live: one row, one compare-and-set.
@live_changes
UPDATE task t
   SET @set_standing(c.), offered = true
  FROM c
 WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
RETURNING c.n;

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
       SET @set_standing(c.), offered = true
      FROM c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.n, c.id, c.document, c.ends, c.node
), @let_go
SELECT n FROM changed;

-- name: finish_tasks
-- Tasks that end move to the history, each by one compare-and-set.
@done_changes, changed AS (
    DELETE FROM task t
     USING c
     WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
    RETURNING c.*
), ended AS (
    INSERT INTO done (id, @standing, @end)
    SELECT c.id, @standing(c.), @end(c.)
      FROM changed c
)
SELECT n FROM changed;

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
SELECT n FROM changed;

-- name: revise_tasks
-- Finished tasks that change and stay finished, each by one compare-and-set.
@done_changes
UPDATE done t
   SET @set_standing(c.), @set_end(c.)
  FROM c
 WHERE t.id = ANY ($id) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt AND c.node IS NOT NULL
RETURNING c.n;

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
    INSERT INTO task (id, type, queue, document, batch, container, expires_ms, @standing)
    SELECT b.id, b.type, b.queue, b.document, b.batch, b.container, b.expires_ms, @standing(c.)
      FROM changed c
      JOIN body b ON b.id = c.id
)
SELECT n FROM changed;
