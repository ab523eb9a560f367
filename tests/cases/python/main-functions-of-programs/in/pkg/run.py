import argparse
import sys

from pkg import config


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=config.PORT)
    print(parser.parse_args(argv).port)
    return 0


if __name__ == "__main__":
    sys.exit(main())
