import gained.base
from gained.plain import of_by_wrapped_function


def main():
    return of_by_wrapped_function(1), gained.base.TABLE
