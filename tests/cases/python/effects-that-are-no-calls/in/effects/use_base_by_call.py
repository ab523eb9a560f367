import effects.base
from effects.base_by_call.add import of_base_by_call


def main():
    return of_base_by_call(1), effects.base.TABLE
