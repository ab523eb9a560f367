import typing

from shop.types import D


def go():
    return sorted(typing.get_type_hints(D))
