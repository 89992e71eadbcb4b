-- store/postgres/list_dependents.sql: who depends on a task, in order of creation.
SELECT b.id FROM dependency x JOIN body b ON b.id = x.id WHERE x."on" = $1 ORDER BY b.id;
