import gained.base
from gained.plain import of_by_attribute


def main():
    return of_by_attribute(1), gained.base.TABLE
