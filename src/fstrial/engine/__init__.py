"""The typed face of the C core: describe a phase, run it, read what every operation took."""
