"""Links."""
from .helpers import parse


def close(text):
    return parse(text)
