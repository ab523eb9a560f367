"""Some of it has been left behind."""
