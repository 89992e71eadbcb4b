-- store/sqlite/check_i5_documents.sql: I2 and I5: a document is held exactly by the one task of it that runs.
-- That there is one holder at most is the table's primary key.
SELECT 'I5', 'document ' || l.document || ' is held by task key ' || l.k || ', which does not run on it'
  FROM doc_lease l LEFT JOIN task t ON t.k = l.k
 WHERE t.k IS NULL OR t.state <> 3 OR t.document IS NOT l.document OR t.attempt <> l.attempt
UNION ALL
SELECT 'I2', 'task ' || task_id(t.k, t.lo) || ' runs without holding its document'
  FROM task t
 WHERE t.state = 3 AND t.document IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM doc_lease l WHERE l.document = t.document AND l.k = t.k)
 LIMIT 20;
