"""Other."""
