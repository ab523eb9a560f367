from . import a, b
from .registry import COMMANDS


def main():
    print(sorted(COMMANDS), a.more(), b.base())
