-- store/sqlite/has_facet.sql: is the facet of a task in the index? For the doctor.
SELECT 1 FROM facet WHERE h = :h AND k = :k;
