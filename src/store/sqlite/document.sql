-- store/sqlite/document.sql: who holds which document.

-- name: lease_document
-- A task with a document starts an attempt. No row changed: somebody holds it (G3),
-- perhaps its own family.
INSERT INTO doc_lease (document, k, batch) VALUES (:document, :k, :in_family) ON CONFLICT DO NOTHING;

-- name: find_holder
-- Who holds this document.
SELECT k FROM doc_lease WHERE document = :document;

-- name: free_document
-- A holder lets one document go.
DELETE FROM doc_lease WHERE document = :document AND k = :k;

-- name: free_documents
-- A container that left RUNNING lets go of all that its members needed.
DELETE FROM doc_lease WHERE k = :k AND batch = 1;

-- name: drop_strays
-- At start nobody runs anything any more: leases of what does not run are left over.
DELETE FROM doc_lease WHERE NOT EXISTS (SELECT 1 FROM task t WHERE t.k = doc_lease.k AND t.state = :RUNNING);

-- name: list_held
-- Every document that is held, and by whom.
SELECT l.document, b.k, b.lo FROM doc_lease l JOIN body b ON b.k = l.k;
