from pkg.near import plain

SAID = "far"


def said():
    return plain(SAID)
