-- store/sqlite/insert_facet.sql: one facet of one task; a tag given twice counts once.
INSERT INTO facet (h, k) VALUES (:h, :k) ON CONFLICT DO NOTHING;
