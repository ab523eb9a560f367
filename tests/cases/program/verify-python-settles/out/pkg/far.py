from pkg.calls_made import plain

SAID = "far"


def said():
    return plain(SAID)
