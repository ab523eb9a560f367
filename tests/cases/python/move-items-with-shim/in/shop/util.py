__all__ = [
    "Basket",
    "helper",
]


def helper():
    return 1


class Basket:
    size = helper()


def keeps():
    return helper()
