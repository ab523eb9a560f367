from dataclasses import dataclass


@dataclass
class Options:
    count: int = 1
