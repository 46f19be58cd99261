"""fstrial puts filesystems on trial."""

__version__ = "0.1.0"
