-- store/postgres/schema.sql: the schema, the server below it, and the stores that write.

-- name: find_meta
-- Whether there is anything of errand's here yet.
-- It reads the catalogue itself: to_regclass() answers from a cache that may be older than the lock we just waited for.
SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE relname = 'meta' AND relkind = 'r' AND pg_table_is_visible(oid));

-- name: read_meta
-- Which migrations the database has had, and who may work with it.
SELECT version, oldest_reader, epoch FROM meta;

-- name: set_version
-- The migrations up to $1 were run; an errand that knows fewer than $2 must not work here.
INSERT INTO meta (version, oldest_reader) VALUES ($version, $oldest_reader)
ON CONFLICT (one) DO UPDATE SET version = excluded.version, oldest_reader = excluded.oldest_reader;

-- name: find_other_plans
-- Functions (plan.h) but for those named, as a script that drops them; not while a node of another version lives: it may call them.
SELECT string_agg('DROP FUNCTION ' || p.oid::regprocedure, '; ')
  FROM pg_catalog.pg_proc p
 WHERE p.pronamespace = current_schema()::regnamespace AND p.proname ~ '^errand_[0-9a-f]{16}$' AND p.proname <> ALL ($names::text[])
   AND NOT EXISTS (SELECT 1 FROM node WHERE seen_ms > @now_ms - 15000 AND convert_from(body, 'UTF8')::jsonb ->> 'version' IS DISTINCT FROM $version::text);

-- name: lock_schema
-- One node migrates at a time; the lock ends with the transaction. 'Errd' is its name.
SELECT pg_advisory_xact_lock(x'45727264'::integer, 1);

-- name: grow_epoch
-- Every writing open has a higher number.
UPDATE meta SET epoch = epoch + 1 RETURNING epoch;

-- name: read_self
-- The server process that answers, to know whether the session is ours alone.
SELECT pg_backend_pid();

-- name: read_line
-- The timeline that the server writes: another one whenever a standby took a server's place.
SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer::bigint;

-- name: add_writer
-- A store that writes is open; said again, it still is.
INSERT INTO writer (node, seen_ms) VALUES ($node, @now_ms)
ON CONFLICT (node) DO UPDATE SET seen_ms = excluded.seen_ms;

-- name: remove_writer
-- A store is closed.
WITH closed AS (DELETE FROM writer WHERE node = $node)
DELETE FROM mark WHERE node = $node;

-- name: forget_writers
-- Stores that were not closed and have not been seen for a minute are dead.
WITH dead AS (
    DELETE FROM writer WHERE seen_ms < @now_ms - 60000 RETURNING node)
DELETE FROM mark m USING dead d WHERE m.node = d.node;
