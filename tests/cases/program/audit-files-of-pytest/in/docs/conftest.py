"""Marks the root for pytest."""
