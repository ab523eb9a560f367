import gained.base
from gained.plain import of_by_factory_of_field


def main():
    return of_by_factory_of_field(1), gained.base.TABLE
