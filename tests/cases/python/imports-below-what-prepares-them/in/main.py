import os

os.environ["APP_MODE"] = "test"

from app.util import tag


def double(s):
    return 2 * s


def main():
    print(double(tag("x")))


if __name__ == "__main__":
    main()
