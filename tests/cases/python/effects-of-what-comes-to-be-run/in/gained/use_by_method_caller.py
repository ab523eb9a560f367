import gained.base
from gained.plain import of_by_method_caller


def main():
    return of_by_method_caller(1), gained.base.TABLE
