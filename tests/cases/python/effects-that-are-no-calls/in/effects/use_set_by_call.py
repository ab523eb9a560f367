import effects.base
from effects.set_by_call.add import of_set_by_call


def main():
    return of_set_by_call(1), effects.base.TABLE
