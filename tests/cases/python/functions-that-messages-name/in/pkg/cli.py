import argparse


def positive(text):
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def resize(image, size):
    return image[:size]


def plain(value):
    return value


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=positive)
    return parser.parse_args(argv)
