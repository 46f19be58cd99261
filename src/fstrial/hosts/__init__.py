"""Where trials execute: a worker started in a kernel, and the channel to it."""
