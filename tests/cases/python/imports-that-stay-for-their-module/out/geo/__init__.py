"""Geography."""
