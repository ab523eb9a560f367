from enum import IntEnum


class Priority(IntEnum):
    LOW = 1


class Kind(IntEnum):
    A = 1


class Other(IntEnum):
    B = 1


class Phase(IntEnum):
    A = 1
