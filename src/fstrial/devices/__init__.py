"""Where a filesystem is made. Only `claim` turns a name into something writable."""
