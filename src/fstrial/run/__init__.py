"""Where rooms meet: a session runs a plan, a worker runs trials, a trial is one mkfs to unmount."""
