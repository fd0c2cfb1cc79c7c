"""What the app knows and does, without Textual."""
