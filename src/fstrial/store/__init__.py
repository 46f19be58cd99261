"""Results in SQLite or any SQLAlchemy URL."""
