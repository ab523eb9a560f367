"""Gets more."""
