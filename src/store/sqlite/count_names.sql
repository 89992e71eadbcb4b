-- store/sqlite/count_names.sql: how many names there are, and the highest number among them.
SELECT count(*), coalesce(max(id), 0) FROM name;
