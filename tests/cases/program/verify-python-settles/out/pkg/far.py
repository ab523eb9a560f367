from pkg.flags import plain

SAID = "far"


def said():
    return plain(SAID)
