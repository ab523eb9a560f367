"""Two ways to add."""
