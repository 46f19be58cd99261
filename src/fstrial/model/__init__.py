"""Typed, frozen structures that travel between rooms, processes and files. No I/O."""
