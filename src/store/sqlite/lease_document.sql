-- store/sqlite/lease_document.sql: a task with a document starts an attempt. No row changed: somebody else holds it (G3).
INSERT INTO doc_lease (document, k, attempt) VALUES (:document, :k, :attempt) ON CONFLICT DO NOTHING;
