-- store/sqlite/002_facets.sql: an index for rare lookups: by parent, team, schedule, document, external id and tag.
-- h is a stable hash of (what kind of field, its value); facet.c makes it. Relations are written with their task.
-- Labels (document, external id, tags) come late, in sorted slices, because an index kept at once costs more than half
-- of the throughput: everything up to meta.indexed_k is in it, and lists scan the rest.
-- A hash may be shared, so whoever reads it looks at the task itself again.
CREATE TABLE facet (
    h INTEGER NOT NULL,
    k INTEGER NOT NULL,
    PRIMARY KEY (h, k)
) WITHOUT ROWID;

ALTER TABLE meta ADD COLUMN indexed_k INTEGER NOT NULL DEFAULT 0;
