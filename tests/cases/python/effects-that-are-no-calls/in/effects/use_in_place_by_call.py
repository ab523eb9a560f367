import effects.base
from effects.in_place_by_call.add import of_in_place_by_call


def main():
    return of_in_place_by_call(1), effects.base.TABLE
