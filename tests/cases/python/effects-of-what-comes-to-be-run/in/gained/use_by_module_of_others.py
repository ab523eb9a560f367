import gained.base
from gained.plain import of_by_module_of_others


def main():
    return of_by_module_of_others(1), gained.base.TABLE
