-- store/postgres/check.sql: the doctor's questions, whose answers are violations.

-- name: check_attempts
-- Attempts are numbered from 1 to the task's own count, without a gap.
-- The last one is in the task's row while it runs and after the task has ended.
SELECT 'attempts', 'task ' || x.id || ' has started ' || x.attempt || ' attempts, but ' || count(a.number)
                   || ' earlier ones are on record, up to number ' || coalesce(max(a.number), 0)
  FROM (SELECT id, attempt, state = :RUNNING AS tells FROM task
        UNION ALL SELECT id, attempt, true FROM done) x
  LEFT JOIN attempt a ON a.id = x.id
 GROUP BY x.id, x.attempt, x.tells
HAVING count(a.number) <> coalesce(max(a.number), 0)
    OR NOT coalesce(max(a.number), 0) BETWEEN x.attempt - (x.tells AND x.attempt > 0)::integer AND x.attempt
 LIMIT 20;

-- name: check_body
-- Every order stands in exactly one place: among the live or in the history.
SELECT 'rows', 'task ' || b.id || CASE WHEN t.id IS NULL THEN ' is in neither task nor done'
                                       ELSE ' is in both task and done' END
  FROM body b
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE (t.id IS NULL) = (d.id IS NULL)
 LIMIT 20;

-- name: check_copies
-- The hot row repeats its order faithfully, and every tag is found.
SELECT 'rows', 'task ' || b.id || ': the hot row differs from its body'
  FROM task t
  JOIN body b ON b.id = t.id
 WHERE t.type <> b.type OR t.queue <> b.queue OR t.document IS DISTINCT FROM b.document
    OR t.expires_ms <> b.expires_ms OR t.batch IS DISTINCT FROM b.batch OR t.container <> b.container
UNION ALL
SELECT 'index', 'task ' || b.id || CASE WHEN b.tags IS NULL THEN ' is listed under a tag that it does not have'
                                        ELSE ' is missing in the list of tags' END
  FROM body b
 WHERE (b.tags IS NULL) = EXISTS (SELECT 1 FROM tag g WHERE g.id = b.id)
 LIMIT 20;

-- name: check_due
-- What is to happen to a task by itself has its time, and every tie is known to both ends.
SELECT 'rows', 'task ' || id || ' is not listed under the time at which something happens to it'
  FROM task
 WHERE due_ms IS DISTINCT FROM
       CASE WHEN state = :RUNNING THEN CASE WHEN container THEN NULL
                                     ELSE least(lease_until_ms, CASE WHEN timeout_ms > 0 THEN started_ms + timeout_ms END)
                                END
            WHEN state = :RETRYING THEN scheduled_ms
            ELSE least(CASE WHEN state = :SCHEDULED THEN scheduled_ms END,
                       CASE WHEN expires_ms <> 0 AND attempt = 0 AND queued_ms < expires_ms THEN expires_ms END)
       END
UNION ALL
SELECT 'relations', 'task ' || t.id || ' does not know that it has dependents or dependencies'
  FROM task t
 WHERE (NOT t.awaited AND EXISTS (SELECT 1 FROM dependency x WHERE x."on" = t.id))
    OR (NOT t.depends AND EXISTS (SELECT 1 FROM dependency x WHERE x.id = t.id))
 LIMIT 20;

-- name: check_i1_ends
-- I1: an end is told completely, and only a completed task has a result.
SELECT 'I1', 'task ' || id || ' ended, but its row does not say how or when'
  FROM done
 WHERE state NOT BETWEEN :COMPLETED AND :TIMEOUT OR finished_ms <= 0
    OR (state = :COMPLETED AND attempt > 0 AND outcome <> :OUTCOME_COMPLETED)
    OR (state <> :COMPLETED AND result IS NOT NULL)
 LIMIT 20;

-- name: check_i3_retries
-- I3: no task used more retries than it has.
SELECT 'I3', 'task ' || id || ' used ' || retries || ' retries of ' || max_retries
  FROM (SELECT id, retries, max_retries FROM task UNION ALL SELECT id, retries, max_retries FROM done) x
 WHERE max_retries <> -1 AND retries > max_retries
 LIMIT 20;

-- name: check_i4_leases
-- I4: RUNNING and holding a lease are one thing, but a container is never claimed.
SELECT 'I4', 'task ' || id || CASE WHEN container AND attempt > 0 THEN ' is a container and was claimed'
                                   WHEN state = :RUNNING AND NOT container THEN ' is RUNNING without a lease'
                                   ELSE ' has a lease without RUNNING' END
  FROM task
 WHERE CASE WHEN state = :RUNNING AND NOT container
            THEN attempt = 0 OR token = 0 OR worker IS NULL OR lease_until_ms <= 0 OR outcome <> :OUTCOME_NONE
            ELSE lease_until_ms <> 0 END
    OR (container AND attempt > 0)
 LIMIT 20;

-- name: check_i5_documents
-- I2 and I5: a document is held exactly by the one task of it that runs, or by
-- the family of that, or it is kept for a run function that has not returned. That there is one holder at most is the
-- table's primary key.
(SELECT 'I5', 'document ' || encode(l.document, 'escape') || ' is held by task ' || l.holder || ', which does not run on it'
   FROM doc_lease l
   LEFT JOIN task t ON t.id = l.holder
  WHERE CASE WHEN t.state = :RUNNING THEN NOT t.container AND t.document IS DISTINCT FROM l.document
             ELSE NOT l.kept END
  LIMIT 20)
UNION ALL
(SELECT 'I2', 'task ' || t.id || ' runs without holding its document'
   FROM task t
  WHERE t.state = :RUNNING AND NOT t.container AND t.document IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM doc_lease l WHERE l.document = t.document AND l.holder = coalesce(t.batch, t.id))
  LIMIT 20);

-- name: check_i7_counters
-- I7: the counters are what counting gives.
WITH counted AS (
    SELECT queue, state, count(*) AS n
      FROM (SELECT queue, state FROM task
            UNION ALL
            SELECT b.queue, d.state FROM done d JOIN body b ON b.id = d.id) x
     GROUP BY queue, state
), kept AS (
    SELECT k.queue, x.state, sum(x.n) AS n
      FROM counter k
     CROSS JOIN LATERAL (VALUES (:SCHEDULED, k.scheduled), (:WAITING, k.waiting), (:QUEUED, k.queued), (:RUNNING, k.running), (:RETRYING, k.retrying),
                                (:COMPLETED, k.completed), (:FAILED, k.failed), (:CANCELLED, k.cancelled), (:TIMEOUT, k.timeout)) AS x (state, n)
     GROUP BY k.queue, x.state
    HAVING sum(x.n) <> 0
)
SELECT DISTINCT 'I7', 'the counters of queue ' || queue || ' are not what its rows add up to'
  FROM counted FULL JOIN kept USING (queue, state)
 WHERE counted.n IS DISTINCT FROM kept.n
 LIMIT 20;

-- name: check_i8_ends
-- I8: every history can come to an end. A parent is open exactly as long as something in
-- it can still run, the first child that has not ended has its turn and nobody else, and whoever waits for others counts
-- those that stand in its way, at least one. While a task that many wait for is followed in slices (a record of kind 8)
-- some of those have not been told yet. A team's hold has no children: its team ends it.
WITH family AS (
    SELECT p.id, p.state, p.cancel_requested,
           (SELECT c.id FROM body c JOIN task x ON x.id = c.id WHERE c.parent = p.id ORDER BY c.id LIMIT 1) AS next
      FROM task p
      JOIN body b ON b.id = p.id
     WHERE p.container AND b.team IS NULL
), open AS (
    SELECT t.id, t.unmet,
           (SELECT count(*)
              FROM dependency x
              LEFT JOIN task o ON o.id = x."on"
              LEFT JOIN done d ON d.id = x."on"
             WHERE x.id = t.id
               AND CASE WHEN b.runs_anyway THEN o.id IS NOT NULL ELSE d.state IS DISTINCT FROM :COMPLETED END) AS stand
      FROM task t
      JOIN body b ON b.id = t.id
     WHERE t.state = :WAITING AND b.parent IS NULL AND NOT EXISTS (SELECT 1 FROM record WHERE kind = :RECORD_FOLLOW)
)
(SELECT 'I8', 'task ' || f.id || ' is open, and none of its children can still run' FROM family f WHERE f.next IS NULL LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || t.id || ' has not ended, but its parent has'
   FROM task t
   JOIN body b ON b.id = t.id
  WHERE b.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM task p WHERE p.id = b.parent)
  LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || t.id || ' waits for its turn, which has come'
   FROM family f
   JOIN task t ON t.id = f.next
  WHERE f.state IN (:QUEUED, :RUNNING) AND NOT f.cancel_requested AND t.state = :WAITING
  LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || t.id || ' may run, but it is not its turn'
   FROM family f
   JOIN body b ON b.parent = f.id
   JOIN task t ON t.id = b.id
  WHERE t.state <> :WAITING AND (f.state NOT IN (:QUEUED, :RUNNING) OR t.id <> f.next)
  LIMIT 20)
UNION ALL
(SELECT 'I8', 'task ' || o.id || ' waits for ' || o.unmet || ' dependencies, and ' || o.stand || ' stand in its way'
   FROM open o
  WHERE o.unmet = 0 OR o.unmet <> o.stand
  LIMIT 20);

-- name: check_lines
-- Of those that wait for a document in one family, queue and type, at least the best is proposed.
SELECT 'lines', 'task ' || id || ' is first in its line, but is not proposed'
  FROM (SELECT DISTINCT ON (document, coalesce(batch, '00000000-0000-0000-0000-000000000000'), queue, type) id, offered
          FROM task
         WHERE state = :QUEUED AND NOT container AND document IS NOT NULL
         ORDER BY document, coalesce(batch, '00000000-0000-0000-0000-000000000000'), queue, type, -priority, queued_ms, id) first
 WHERE NOT offered
UNION ALL
SELECT 'lines', 'task ' || id || ' waits for no document, but is not proposed'
  FROM task
 WHERE document IS NULL AND NOT offered
 LIMIT 20;

-- name: check_logs
-- Logs belong to attempts that have started.
SELECT DISTINCT 'attempts', 'task ' || l.id || ' has a log of attempt ' || l.number || ', which never started'
  FROM log l
  LEFT JOIN task t ON t.id = l.id
  LEFT JOIN done d ON d.id = l.id
 WHERE l.number > coalesce(t.attempt, d.attempt, 0)
 LIMIT 20;

-- name: check_orphans
-- Nothing is left of a task that is gone.
SELECT DISTINCT 'rows', 'a row of ' || place || ' belongs to task ' || id || ', which does not exist'
  FROM (SELECT 'task' AS place, id FROM task
        UNION ALL SELECT 'done', id FROM done
        UNION ALL SELECT 'attempt', id FROM attempt
        UNION ALL SELECT 'log', id FROM log
        UNION ALL SELECT 'tag', id FROM tag) x
 WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.id = x.id)
 LIMIT 20;

-- name: check_records
-- Every record is of a kind and has a version.
-- Its parent may be gone, and what its body says is its room's business.
SELECT 'records', 'record ' || id || ' of kind ' || kind || ' is not one that was ever written'
  FROM record
 WHERE kind < 1 OR version < 1 OR due_ms < 0
 LIMIT 20;

-- name: check_relations
-- Both ends of every relation exist and agree; only containers have children.
(SELECT 'relations', 'task ' || b.id || ' is the child of none'
   FROM body b
  WHERE b.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM body p WHERE p.id = b.parent)
  LIMIT 20)
UNION ALL
(SELECT 'relations', 'task ' || p.id || ' has children, but is no container'
   FROM body p
  WHERE NOT p.container AND EXISTS (SELECT 1 FROM body b WHERE b.parent = p.id)
  LIMIT 20)
UNION ALL
(SELECT 'relations', 'task ' || x.id || ' depends on task ' || x."on" || ', and one of them is missing'
   FROM dependency x
  WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.id = x.id) OR NOT EXISTS (SELECT 1 FROM body b WHERE b.id = x."on")
  LIMIT 20);
