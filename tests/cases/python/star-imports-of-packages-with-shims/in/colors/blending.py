"""Blends."""
