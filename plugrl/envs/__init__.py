"""What an env client can run."""
