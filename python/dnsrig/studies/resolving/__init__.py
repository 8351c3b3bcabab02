"""What the studies share that put a resolver between the simulated Internet and its clients."""
