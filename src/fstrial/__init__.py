"""fstrial puts filesystems on trial."""
