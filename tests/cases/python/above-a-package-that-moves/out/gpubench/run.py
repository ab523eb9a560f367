import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = os.path.dirname(os.path.abspath(__file__))
OWN = Path(__file__).with_name("own.txt").read_text().strip()


def conf():
    return (ROOT / "conf.txt").read_text().strip()


def joined():
    with open(os.path.join(HERE, "..", "conf.txt")) as f:
        return f.read().strip()


def own():
    with open(os.path.join(HERE, "own.txt")) as f:
        return f.read().strip()
