from dataclasses import dataclass


@dataclass
class Options:
    count: int = 1


def tool(count: int) -> int:
    return count
