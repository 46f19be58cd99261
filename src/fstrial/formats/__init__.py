"""Interchange: one file a format. What people read is the report room's."""
