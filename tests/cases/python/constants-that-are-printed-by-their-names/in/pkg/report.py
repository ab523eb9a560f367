from pkg.limits import LIMIT


def line(n):
    return f"{n} of {LIMIT + 1=!r}" if n == LIMIT else ""
