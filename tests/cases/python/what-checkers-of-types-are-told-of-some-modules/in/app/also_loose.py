# mypy: ignore-errors
M = 1
