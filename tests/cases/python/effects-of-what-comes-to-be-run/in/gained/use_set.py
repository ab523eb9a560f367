import gained.base
from gained.plain import of_set


def main():
    return of_set(1), gained.base.TABLE
