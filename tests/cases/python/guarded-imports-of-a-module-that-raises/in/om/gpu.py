import os

if os.environ.get("ALT"):
    raise ImportError("no gpu")


def run(x):
    return x * 2


def free():
    return "freed"

def plain():
    return "plain"
