"""What takes its place: of three functions another way to call it."""

from pkg.old import pick
from pkg.parts import checked, step


def select(count: int) -> int:
    return pick(count)


def descend(depth: int) -> int:
    return step(depth)


def load(path: str) -> str:
    import pkg.old

    return pkg.old.read(path)


def concatenate(parts: list[str]) -> str:
    result = ""
    for part in parts:
        result = result + "," + part if result else part
    return result


def size(text: str) -> int:
    return checked(text)
