"""Point clouds."""
