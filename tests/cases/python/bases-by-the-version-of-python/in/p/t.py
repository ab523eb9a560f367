import sys

if sys.version_info >= (3, 11):
    from enum import StrEnum
else:
    from other_enums import StrEnum


class Color(StrEnum):
    RED = "r"


def moved():
    return 2
