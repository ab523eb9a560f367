"""Colours."""
