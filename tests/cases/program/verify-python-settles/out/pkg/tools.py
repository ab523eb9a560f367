import itertools
import os
import random

KINDS = []
COUNTS = {"seen": 0}
NUMBERS = itertools.count()
DICE = random.Random(3)


def made(name):
    return [name]


def kept(name):
    KINDS.append(name)


def counted(name):
    COUNTS["seen"] += 1


def exported(name):
    os.environ["PKG_KIND"] = name


def written(name):
    with open(os.path.join(os.environ.get("TMPDIR", "/tmp"), "pkg-kind"), "w") as file:
        file.write(name)


def warned(name):
    import warnings

    warnings.warn(name)


def numbered(name):
    return next(NUMBERS)


def thrown(name):
    return DICE.random()


BY_NAME = {
    "made": made,
    "kept": kept,
    "counted": counted,
    "exported": exported,
    "written": written,
    "warned": warned,
    "numbered": numbered,
    "thrown": thrown,
}
