from __future__ import annotations


class Owner:
    """Stays."""

    def make(self) -> list[object]:
        return [Long(self), Nested(self), Other(self), Text(self)]


class Long:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner


class Nested:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner


class Other:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner


class Text:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner
