"""GPU memory pool (to be implemented)."""
