import gained.base
from gained.plain import of_by_held_object


def main():
    return of_by_held_object(1), gained.base.TABLE
