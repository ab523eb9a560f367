"""A Device(kind) is what computes."""
from dataclasses import dataclass


@dataclass
class Device:
    """What computes: Device("gpu")."""

    kind: str


class Plain:
    pass
