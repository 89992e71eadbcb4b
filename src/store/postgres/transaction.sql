-- store/postgres/transaction.sql: how a transaction begins and ends, and how a lost commit is found again.

-- name: begin
-- READ COMMITTED, whatever the database has as its default: rows that were loaded are locked.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: begin_read
-- One snapshot for the several statements of a list or a detail view.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: limits
-- How long this transaction may wait, and how it is planned. Nothing is set beyond it: a pooler may
-- give the session to somebody else. A node that stands still in the middle of a transaction lets go of its locks, too.
-- synchronous_commit is G1: a server may have been told to be quicker than that. Every statement finds its rows by an
-- index; to read all of a table is never better, and to compile a plan takes longer than to run it. Statistics cannot be
-- trusted: a hot table that was empty when it was last looked at may hold a million rows by now. So whatever joins an array
-- with a table also names the array in a condition of its own: then no plan can look at more rows than that.
-- For the same reason one plan serves all values, and is made once (plan.h). Nobody helps: to start another process takes longer than any of this.
-- The last two columns say on whom we stand: which server this is, by the moment of its start, and whom its schema still admits (ground.c).
SELECT set_config('lock_timeout', '5s', true), set_config('statement_timeout', '15s', true),
       set_config('idle_in_transaction_session_timeout', '15s', true),
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END,
       set_config('enable_seqscan', 'off', true), set_config('enable_mergejoin', 'off', true),
       set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('max_parallel_workers_per_gather', '0', true),
       (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, (SELECT oldest_reader FROM meta);

-- name: commit
-- On disk, or not at all.
COMMIT;

-- name: rollback
-- Nothing of it happened.
ROLLBACK;

-- name: add_mark
-- A store that has not written yet; so from here on its row is there, or locked.
INSERT INTO mark (node, number) VALUES ($node, 0);

-- name: stand_firm
-- Fails a transaction whose COMMIT goes out with it, unless it stands on the server that the store knows and on a schema that admits it:
-- nobody could look at what `limits` says before it is over.
SELECT 1 / CASE WHEN (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint = $server
                 AND (SELECT oldest_reader FROM meta) <= $version::integer THEN 1 ELSE 0 END;

-- name: raise_mark
-- This transaction's number in store $1, to ask later whether it was committed; says its number in PostgreSQL, which what it creates bears.
INSERT INTO mark (node, number) VALUES ($node, $number) ON CONFLICT (node) DO UPDATE SET number = excluded.number RETURNING pg_current_xact_id();

-- name: read_outcome
-- The number of the last transaction of store $1 that was committed.
-- No row: one that raises it is still under way, somewhere in the server, and may yet be committed.
SELECT number FROM mark WHERE node = $node FOR UPDATE SKIP LOCKED;
