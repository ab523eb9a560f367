"""The home."""
