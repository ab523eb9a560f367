"""What gives way."""


def pick(count: int) -> int:
    return count + 1


def walk(depth: int) -> int:
    return depth


def read(path: str) -> str:
    return path


def join(parts: list[str]) -> str:
    return ",".join(parts)


def measure(text: str) -> int:
    return len(text)
