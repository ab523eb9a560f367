import gained.base
from gained.plain import of_by_slice


def main():
    return of_by_slice(1), gained.base.TABLE
