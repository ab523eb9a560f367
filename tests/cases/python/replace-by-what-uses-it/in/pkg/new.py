from pkg import plain
from pkg.old import pick
from pkg.old import walk as old_walk


def select(n: int) -> int:
    return pick(n)


def walk_one(n):
    return old_walk(n)[0]


def walk(n: int) -> list:
    return list(map(walk_one, [n]))


def read(p: str) -> str:
    import pkg.old as o

    return o.read(p)


def fetch(n: int) -> int:
    return plain.step(n) - 1
