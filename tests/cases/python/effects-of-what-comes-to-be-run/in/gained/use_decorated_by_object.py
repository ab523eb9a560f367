import gained.base
from gained.plain import of_decorated_by_object


def main():
    return of_decorated_by_object(1), gained.base.TABLE
