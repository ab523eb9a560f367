from pathlib import Path

OWN = (Path(__file__).parent.parent / "own.txt").read_text().strip()


def here():
    return Path(__file__).parents[1]


def conf():
    return (here().parent / "conf.txt").read_text().strip()
