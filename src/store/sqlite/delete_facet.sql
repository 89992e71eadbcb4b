-- store/sqlite/delete_facet.sql: it goes with its task.
DELETE FROM facet WHERE h = :h AND k = :k;
