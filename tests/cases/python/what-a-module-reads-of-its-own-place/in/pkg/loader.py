import os
import sys

HERE = os.path.dirname(__file__)
BASE = "pkg"


def text():
    return open(os.path.join(HERE, "old.py")).read()


def module():
    return sys.modules[BASE + ".old"], sys.modules[f"{BASE}.old"]
