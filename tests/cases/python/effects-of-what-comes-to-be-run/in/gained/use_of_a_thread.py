import gained.base
from gained.plain import of_of_a_thread


def main():
    return of_of_a_thread(1), gained.base.TABLE
