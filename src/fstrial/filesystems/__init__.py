"""One small file a filesystem, found by its name."""
