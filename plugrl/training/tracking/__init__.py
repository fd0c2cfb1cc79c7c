"""Where a run's metrics go: one protocol, a sink a file."""
