"""GPU memory (to be written)."""
