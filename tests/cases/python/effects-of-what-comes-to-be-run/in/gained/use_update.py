import gained.base
from gained.plain import of_update


def main():
    return of_update(1), gained.base.TABLE
