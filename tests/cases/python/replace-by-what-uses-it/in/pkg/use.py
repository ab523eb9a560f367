from pkg.old import fetch, pick, read, walk


def run():
    return pick(1), walk(1), read("a"), fetch(1)
