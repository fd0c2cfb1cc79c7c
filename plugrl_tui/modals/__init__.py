"""What asks or tells one thing above a screen."""
