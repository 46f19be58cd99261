"""What every room stands on: errors, units, programs, the kernel, logging, the registry. Standard library only."""
