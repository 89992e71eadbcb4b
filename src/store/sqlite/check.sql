-- store/sqlite/check.sql: the doctor's questions, whose answers are violations.

-- name: check_attempts
-- Attempts are numbered from 1 to the task's own count, without a gap.
-- The last one is in the task's row while it runs and after the task has ended.
SELECT 'attempts', 'task ' || task_id(b.k, b.lo) || ' has started ' || x.attempt || ' attempts, but '
                   || count(a.number) || ' earlier ones are on record, up to number ' || coalesce(max(a.number), 0)
  FROM (SELECT k, attempt, state = :RUNNING AS tells FROM task
        UNION ALL SELECT k, attempt, 1 FROM done) x
  JOIN body b ON b.k = x.k LEFT JOIN attempt a ON a.k = x.k
 GROUP BY x.k
HAVING count(a.number) <> coalesce(max(a.number), 0)
    OR NOT coalesce(max(a.number), 0) BETWEEN x.attempt - (x.tells AND x.attempt > 0) AND x.attempt
 LIMIT 20;

-- name: check_body
-- Every order stands in exactly one place: among the live or in the history.
SELECT 'rows', 'task ' || task_id(b.k, b.lo) || iif(t.k IS NULL, ' is in neither task nor done',
                                                    ' is in both task and done')
  FROM body b LEFT JOIN task t ON t.k = b.k LEFT JOIN done d ON d.k = b.k
 WHERE (t.k IS NULL) = (d.k IS NULL)
 LIMIT 20;

-- name: check_copies
-- The hot row repeats its order faithfully.
SELECT 'rows', 'task ' || task_id(b.k, b.lo) || ': the hot row differs from its body'
  FROM task t JOIN body b ON b.k = t.k
 WHERE t.lo <> b.lo OR t.type_id <> b.type_id OR t.queue_id <> b.queue_id
    OR packed(t.rest, :PACKED_document) IS NOT packed(b.rest, :PACKED_document)
    OR packed(t.rest, :PACKED_expires_ms) <> packed(b.rest, :PACKED_expires_ms)
    OR packed(t.rest, :PACKED_parent) IS NOT packed(b.rest, :PACKED_parent)
    OR packed(t.rest, :PACKED_batch) IS NOT packed(b.rest, :PACKED_batch)
    OR packed(t.rest, :PACKED_container) <> packed(b.rest, :PACKED_container)
    OR packed(t.rest, :PACKED_continues) <> packed(b.rest, :PACKED_continues)
    OR packed(t.rest, :PACKED_runs_anyway) <> packed(b.rest, :PACKED_runs_anyway)
 LIMIT 20;

-- name: check_i1_ends
-- I1: an end is told completely, and only a completed task has a result.
SELECT 'I1', 'task ' || task_id(b.k, b.lo) || ' ended, but its row does not say how or when'
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.state NOT BETWEEN :COMPLETED AND :TIMEOUT OR d.finished_ms <= 0
    OR (d.state = :COMPLETED AND d.attempt > 0 AND packed(d.rest, :PACKED_outcome) <> :OUTCOME_COMPLETED)
    OR (d.state <> :COMPLETED AND d.result IS NOT NULL)
 LIMIT 20;

-- name: check_i3_retries
-- I3: no task used more retries than it has.
SELECT 'I3', 'task ' || task_id(b.k, b.lo) || ' used ' || x.retries || ' retries of ' || x.max_retries
  FROM (SELECT k, packed(rest, :PACKED_retries) AS retries, packed(rest, :PACKED_max_retries) AS max_retries FROM task
        UNION ALL SELECT k, packed(rest, :PACKED_retries), packed(rest, :PACKED_max_retries) FROM done) x
  JOIN body b ON b.k = x.k
 WHERE x.max_retries <> -1 AND x.retries > x.max_retries
 LIMIT 20;

-- name: check_i4_leases
-- I4: RUNNING and holding a lease are one thing, but a container is never claimed.
WITH held AS (
    SELECT k, lo, state, attempt, packed(rest, :PACKED_container) AS container, packed(rest, :PACKED_token) AS token,
           packed(rest, :PACKED_worker) AS worker, packed(rest, :PACKED_lease_until_ms) AS lease_until_ms,
           packed(rest, :PACKED_outcome) AS outcome
      FROM task
)
SELECT 'I4', 'task ' || task_id(k, lo) || CASE WHEN container = 1 AND attempt > 0 THEN ' is a container and was claimed'
                                               WHEN state = :RUNNING AND container = 0 THEN ' is RUNNING without a lease'
                                               ELSE ' has a lease without RUNNING' END
  FROM held
 WHERE CASE WHEN state = :RUNNING AND container = 0
            THEN attempt = 0 OR token = 0 OR worker IS NULL OR lease_until_ms <= 0 OR outcome <> :OUTCOME_NONE
            ELSE lease_until_ms <> 0 END
    OR (container = 1 AND attempt > 0)
 LIMIT 20;

-- name: check_i5_documents
-- I2 and I5: a document is held exactly by the one task of it that runs, or by
-- the family of that, which keeps it until it ends. That there is one holder at most is the table's primary key. Beside a running server a document
-- may also stay held for a run function that has not returned.
SELECT 'I5', 'document ' || l.document || ' is held by task key ' || l.k || ', which does not run on it'
  FROM doc_lease l LEFT JOIN task t ON t.k = l.k
 WHERE CASE WHEN t.state = :RUNNING
            THEN packed(t.rest, :PACKED_container) = 0 AND packed(t.rest, :PACKED_document) IS NOT l.document
            ELSE NOT :beside END
UNION ALL
SELECT 'I2', 'task ' || task_id(t.k, t.lo) || ' runs without holding its document'
  FROM task t
 WHERE t.state = :RUNNING AND packed(t.rest, :PACKED_container) = 0 AND packed(t.rest, :PACKED_document) IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM doc_lease l
                    WHERE l.document = packed(t.rest, :PACKED_document)
                      AND l.k = coalesce(packed(t.rest, :PACKED_batch), t.k))
 LIMIT 20;

-- name: check_i7_counters
-- I7: the counters are what counting gives. Those of live tasks are not in the file.
WITH counted AS (
    SELECT b.queue_id, sum(d.state = :COMPLETED) AS completed, sum(d.state = :FAILED) AS failed, sum(d.state = :CANCELLED) AS cancelled,
           sum(d.state = :TIMEOUT) AS timeout
      FROM done d JOIN body b ON b.k = d.k
     GROUP BY b.queue_id
), kept AS (
    SELECT queue_id, completed, failed, cancelled, timeout
      FROM ended
     WHERE completed | failed | cancelled | timeout <> 0
)
SELECT 'I7', 'the counters of queue ' || coalesce((SELECT text FROM name WHERE id = queue_id), queue_id)
             || ' are not what its rows add up to'
  FROM (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)
        UNION
        SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted))
 GROUP BY queue_id
 LIMIT 20;

-- name: check_i8_ends
-- I8: every history can come to an end. A parent is open exactly as long as something in it
-- can still run, the first child that has not ended has its turn and nobody else, and whoever waits for others counts
-- those that stand in its way, at least one. While a task that many wait for is followed in slices (a record of kind 8)
-- some of those have not been told yet. A team's hold has no children: its team ends it.
WITH family AS (
    SELECT p.k, p.lo, p.state, packed(p.rest, :PACKED_cancel_requested) AS cancel_requested,
           (SELECT min(c.k) FROM child c JOIN task x ON x.k = c.k WHERE c.parent_k = p.k) AS next
      FROM task p JOIN body b ON b.k = p.k
     WHERE packed(b.rest, :PACKED_container) = 1 AND packed(b.rest, :PACKED_team) IS NULL
), live AS (
    SELECT k, lo, state, packed(rest, :PACKED_parent) AS parent_k, packed(rest, :PACKED_unmet) AS unmet,
           packed(rest, :PACKED_runs_anyway) AS runs_anyway
      FROM task
)
SELECT 'I8', 'task ' || task_id(f.k, f.lo) || ' is open, and none of its children can still run'
  FROM family f
 WHERE f.next IS NULL
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' has not ended, but its parent has'
  FROM live t
 WHERE t.parent_k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM task p WHERE p.k = t.parent_k)
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' waits for its turn, which has come'
  FROM family f JOIN task t ON t.k = f.next
 WHERE f.state IN (:QUEUED, :RUNNING) AND f.cancel_requested = 0 AND t.state = :WAITING
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' may run, but it is not its turn'
  FROM family f JOIN child c ON c.parent_k = f.k JOIN task t ON t.k = c.k
 WHERE t.state <> :WAITING AND (f.state NOT IN (:QUEUED, :RUNNING) OR t.k <> f.next)
UNION ALL
SELECT 'I8', 'task ' || task_id(t.k, t.lo) || ' waits for ' || t.unmet || ' dependencies, and '
             || (SELECT count(*) FROM dependency x LEFT JOIN task o ON o.k = x.on_k LEFT JOIN done d ON d.k = x.on_k
                  WHERE x.k = t.k AND iif(t.runs_anyway, o.k IS NOT NULL, d.state IS NOT :COMPLETED)) || ' stand in its way'
  FROM live t
 WHERE t.state = :WAITING AND t.parent_k IS NULL AND NOT EXISTS (SELECT 1 FROM record WHERE kind = :RECORD_FOLLOW)
   AND (t.unmet = 0
        OR t.unmet <> (SELECT count(*) FROM dependency x LEFT JOIN task o ON o.k = x.on_k LEFT JOIN done d ON d.k = x.on_k
                        WHERE x.k = t.k AND iif(t.runs_anyway, o.k IS NOT NULL, d.state IS NOT :COMPLETED)))
 LIMIT 20;

-- name: check_keys
-- A key belongs to the task that was created with it, as long as that is there.
SELECT 'keys', 'task ' || task_id(b.k, b.lo) || ' does not own its idempotency key'
  FROM body b LEFT JOIN key ON key.key = packed(b.rest, :PACKED_key)
 WHERE packed(b.rest, :PACKED_key) IS NOT NULL AND key.k IS NOT b.k
UNION ALL
SELECT 'keys', 'task ' || task_id(b.k, b.lo) || ' owns a key that it was not created with'
  FROM key JOIN body b ON b.k = key.k
 WHERE packed(b.rest, :PACKED_key) IS NOT key.key
 LIMIT 20;

-- name: check_logs
-- Logs belong to attempts that have started.
SELECT 'attempts', 'task ' || task_id(b.k, b.lo) || ' has a log of attempt ' || l.number || ', which never started'
  FROM log l JOIN body b ON b.k = l.k LEFT JOIN task t ON t.k = l.k LEFT JOIN done d ON d.k = l.k
 WHERE l.number > coalesce(t.attempt, d.attempt, 0)
 GROUP BY l.k, l.number
 LIMIT 20;

-- name: check_names
-- Every number of a type or queue has its text.
SELECT 'rows', 'task ' || task_id(k, lo) || ' has a type or queue without a name'
  FROM body
 WHERE type_id NOT IN (SELECT id FROM name) OR queue_id NOT IN (SELECT id FROM name)
 LIMIT 20;

-- name: check_orphans
-- Nothing is left of a task that is gone.
SELECT 'rows', 'a row of ' || place || ' has the key ' || k || ', but there is no such task'
  FROM (SELECT 'task' AS place, k FROM task WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'done', k FROM done WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'attempt', k FROM attempt WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'log', k FROM log WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'key', k FROM key WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'facet', k FROM facet WHERE k NOT IN (SELECT k FROM body))
 LIMIT 20;

-- name: check_records
-- Every record is of a kind and has a whole id and a version.
-- Its parent may be gone, and what its body says is its room's business.
SELECT 'records', 'record ' || lower(hex(id)) || ' of kind ' || kind || ' is not one that was ever written'
  FROM record
 WHERE kind < 1 OR length(id) <> 16 OR length(parent) <> 16 OR version < 1 OR due_ms < 0
 LIMIT 20;

-- name: check_relations
-- Both ends of every relation exist and agree; only containers have children.
SELECT 'relations', 'task ' || task_id(b.k, b.lo) || ' is the child of none'
  FROM body b LEFT JOIN body p ON p.k = packed(b.rest, :PACKED_parent)
 WHERE packed(b.rest, :PACKED_parent) IS NOT NULL AND p.k IS NULL
UNION ALL
SELECT 'relations', 'task ' || task_id(p.k, p.lo) || ' has children, but is no container'
  FROM child c JOIN body p ON p.k = c.parent_k
 WHERE packed(p.rest, :PACKED_container) = 0
 GROUP BY p.k
UNION ALL
SELECT 'relations', 'task ' || task_id(b.k, b.lo) || ' is missing among the children of its parent'
  FROM body b
 WHERE packed(b.rest, :PACKED_parent) IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM child c WHERE c.parent_k = packed(b.rest, :PACKED_parent) AND c.k = b.k)
UNION ALL
SELECT 'relations', 'a row of child has the key ' || c.k || ', which is no child of ' || c.parent_k
  FROM child c LEFT JOIN body b ON b.k = c.k
 WHERE packed(b.rest, :PACKED_parent) IS NOT c.parent_k
UNION ALL
SELECT 'relations', 'the task with key ' || x.k || ' depends on the task with key ' || x.on_k
                    || ', and one of them is missing'
  FROM dependency x
 WHERE x.k NOT IN (SELECT k FROM body) OR x.on_k NOT IN (SELECT k FROM body)
 LIMIT 20;
