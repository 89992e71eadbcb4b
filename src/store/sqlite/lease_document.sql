-- store/sqlite/lease_document.sql: a task with a document starts an attempt. No row changed: somebody holds it (G3),
-- perhaps its own batch.
INSERT INTO doc_lease (document, k, batch) VALUES (:document, :k, :batch) ON CONFLICT DO NOTHING;
