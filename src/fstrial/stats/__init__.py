"""Pure functions: intervals, comparison, stopping rule, drift. Procedure and sources: docs/statistics.md."""
