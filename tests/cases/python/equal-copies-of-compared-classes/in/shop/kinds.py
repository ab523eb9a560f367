from shop.first import Kind
from shop.second import kind_second

NAMES = {Kind.CPU: "c", Kind.GPU: "g"}


def name():
    return NAMES.get(kind_second(), "none")
