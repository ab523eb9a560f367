import gained.base
from gained.plain import of_by_class_method


def main():
    return of_by_class_method(1), gained.base.TABLE
