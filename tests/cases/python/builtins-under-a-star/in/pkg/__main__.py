import sys
from pkg import *


def main(argv=None):
    return now()


if __name__ == "__main__":
    sys.exit(main())
