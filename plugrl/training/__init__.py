"""From configs to a running server: checkpoints, tracking, seeds."""
