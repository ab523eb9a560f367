"""Is run by nobody."""

NAME = "other"
