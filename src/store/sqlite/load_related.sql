-- store/sqlite/load_related.sql: the relations of a task in a scan, if it has any.
SELECT parent_hi, parent_lo, batch_hi, batch_lo, container, continues, runs_anyway, unmet FROM task WHERE k = :k;
