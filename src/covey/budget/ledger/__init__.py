"""What was spent, durably, before any row was read: an SQLite file of chained entries, and its anchor."""
