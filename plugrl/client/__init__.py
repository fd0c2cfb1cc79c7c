"""The env client: connection, rollout, processes."""
