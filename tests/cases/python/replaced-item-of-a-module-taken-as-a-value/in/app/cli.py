from . import commands


def main(argv):
    return getattr(commands, argv[0])()
