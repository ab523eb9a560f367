import dataclasses

from shop.price import f


@dataclasses.dataclass
class C:
    h: int = 3
    k: int = dataclasses.field(default_factory=lambda: f(9))
    m: int = f(8)
