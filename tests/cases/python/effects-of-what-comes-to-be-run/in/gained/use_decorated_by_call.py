import gained.base
from gained.plain import of_decorated_by_call


def main():
    return of_decorated_by_call(1), gained.base.TABLE
