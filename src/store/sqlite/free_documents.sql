-- store/sqlite/free_documents.sql: a container that left RUNNING lets go of all that its members needed.
DELETE FROM doc_lease WHERE k = :k AND batch = 1;
