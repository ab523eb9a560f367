import gained.base
from gained.plain import of_printed


def main():
    return of_printed(1), gained.base.TABLE
