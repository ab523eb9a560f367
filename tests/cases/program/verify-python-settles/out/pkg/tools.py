import os

KINDS = []
COUNTS = {"seen": 0}


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


BY_NAME = {
    "made": made,
    "kept": kept,
    "counted": counted,
    "exported": exported,
    "written": written,
    "warned": warned,
}
