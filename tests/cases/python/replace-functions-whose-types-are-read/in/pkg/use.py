import typing

from pkg.old import area


def run(call=area):
    return typing.get_type_hints(call)
