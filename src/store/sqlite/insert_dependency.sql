-- store/sqlite/insert_dependency.sql: a new task depends on another; named twice it counts once.
INSERT INTO dependency (k, on_k) VALUES (:k, :on_k) ON CONFLICT DO NOTHING;
