"""What is collected, kept and computed of frames."""
