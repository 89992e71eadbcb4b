-- store/postgres/drop_strays.sql: documents that were kept for run functions of dead stores are free.
DELETE FROM doc_lease l WHERE l.kept AND NOT EXISTS (SELECT 1 FROM writer w WHERE w.node = l.node);
