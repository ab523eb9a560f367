"""Helpers."""
LABEL = "[^]]+"
PATTERN = LABEL + "x"
LIMIT = 4


def parse(text):
    return text.count(PATTERN) + LIMIT
