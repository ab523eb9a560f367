import gained.base
from gained.plain import of_by_finalizer


def main():
    return of_by_finalizer(1), gained.base.TABLE
