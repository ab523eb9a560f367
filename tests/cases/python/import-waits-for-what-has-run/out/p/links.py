"""Links."""

LABEL = "[^]]+"


def close(text):
    from .helpers import parse
    return parse(text)
