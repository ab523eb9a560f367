import gained.base
from gained.plain import of_in_loop


def main():
    return of_in_loop(1), gained.base.TABLE
