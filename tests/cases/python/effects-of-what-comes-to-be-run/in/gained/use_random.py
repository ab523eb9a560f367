import gained.base
from gained.plain import of_random


def main():
    return of_random(1), gained.base.TABLE
