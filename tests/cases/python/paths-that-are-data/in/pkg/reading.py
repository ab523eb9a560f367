from pathlib import Path


def lines(path):
    return Path(path).read_text().splitlines()
