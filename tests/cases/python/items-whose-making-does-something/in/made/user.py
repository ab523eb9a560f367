from made.base import SEEN
from made.old import TABLE, plain


def main():
    return plain(), TABLE, SEEN
