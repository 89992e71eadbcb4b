-- store/postgres/find_bodies.sql: which of these tasks exist at all: one that is in neither table was just moving.
SELECT id FROM body WHERE id = ANY ($1::uuid[]);
