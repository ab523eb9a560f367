def pick(n: int) -> int:
    return n + 1


def walk(n: int) -> list:
    return [n]


def read(p: str) -> str:
    return p


def fetch(n: int) -> int:
    return n
