"""Imports nothing."""
