from collections.abc import Mapping

TABLE = {}


class Base:
    def keys(self, table: Mapping):
        return Mapping.keys(table)


class Other:
    table = TABLE


def evaluate(context: Mapping[str, int]) -> int:
    return len(context)


def fill(name):
    TABLE[name] = 1
