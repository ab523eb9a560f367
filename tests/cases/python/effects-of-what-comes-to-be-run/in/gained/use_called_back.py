import gained.base
from gained.plain import of_called_back


def main():
    return of_called_back(1), gained.base.TABLE
