"""The new place."""

VERSION = 2

