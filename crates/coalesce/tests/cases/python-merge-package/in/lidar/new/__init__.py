"""The new place."""
