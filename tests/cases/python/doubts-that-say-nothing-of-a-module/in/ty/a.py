from typing import TYPE_CHECKING as TC

if TC:
    from ty.b import B


class A:
    def f(self) -> "B":
        return None
