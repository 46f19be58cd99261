"""Pure functions: intervals, comparison, stopping rule, drift. Procedure and sources in docs/statistics.md."""
