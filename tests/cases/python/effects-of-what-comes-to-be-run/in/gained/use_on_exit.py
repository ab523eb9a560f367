import gained.base
from gained.plain import of_on_exit


def main():
    return of_on_exit(1), gained.base.TABLE
