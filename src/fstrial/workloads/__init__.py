"""One file a workload: its phases, the metrics they yield, the shape of its table."""
