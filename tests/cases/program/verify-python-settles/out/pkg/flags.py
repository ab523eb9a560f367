from pkg.compat import Flag

NOTHING = Flag(0)


def plain(text):
    return text.strip()
