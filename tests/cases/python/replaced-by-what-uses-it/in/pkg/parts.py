"""Between the two."""

from pkg.old import walk


class Steps:
    def of(self, depth: int) -> int:
        return walk(depth)


def step(depth: int) -> int:
    return Steps().of(depth)


def checked(text: str) -> int:
    if not isinstance(text, str):
        raise TypeError(text)
    return sum(1 for _ in text)
