"""One file a verb, thin."""
