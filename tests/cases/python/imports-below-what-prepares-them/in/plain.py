import os
import sys

LIMIT = 3
NAMES = os.environ.get("NAMES", "")


def half(s):
    return s[: len(s) // 2]


def main():
    print(half(sys.argv[0]), LIMIT, NAMES)
