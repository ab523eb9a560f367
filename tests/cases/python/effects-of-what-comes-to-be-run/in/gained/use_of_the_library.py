import gained.base
from gained.plain import of_of_the_library


def main():
    return of_of_the_library(1), gained.base.TABLE
