import typing

from hn.settings import Hook, Plain, Settings


class Runner:
    hooks: "list[Hook]"


class Other:
    all: "Plain"


def hints():
    return typing.get_type_hints(Runner), typing.get_type_hints(Other), Settings
