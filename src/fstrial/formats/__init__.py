"""Interchange: one file a format."""
