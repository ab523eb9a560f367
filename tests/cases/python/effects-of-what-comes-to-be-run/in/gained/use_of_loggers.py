import gained.base
from gained.plain import of_of_loggers


def main():
    return of_of_loggers(1), gained.base.TABLE
