"""Is run by its name."""

NAME = "tool"
