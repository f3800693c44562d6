-- PostgreSQL tests the condition of such a trigger without its cost on SQLite.
SELECT 1;
