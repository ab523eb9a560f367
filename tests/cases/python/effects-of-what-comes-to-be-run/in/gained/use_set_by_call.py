import gained.base
from gained.plain import of_set_by_call


def main():
    return of_set_by_call(1), gained.base.TABLE
