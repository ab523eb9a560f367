import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from app.util import tag


def show(s):
    print(s)


def main():
    show(tag("x"))


if __name__ == "__main__":
    main()
