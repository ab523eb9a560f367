import util


def main():
    return util.load()
