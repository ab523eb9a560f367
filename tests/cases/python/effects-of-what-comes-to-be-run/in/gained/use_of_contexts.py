import gained.base
from gained.plain import of_of_contexts


def main():
    return of_of_contexts(1), gained.base.TABLE
