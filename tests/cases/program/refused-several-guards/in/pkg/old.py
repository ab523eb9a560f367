"""A stub that fails wherever it is imported."""
