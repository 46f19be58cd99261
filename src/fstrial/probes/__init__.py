"""What the machine did during a phase. One file a probe: enter, exit, samples or a reason."""
