import effects.base
from effects.default_of_lambda.add import of_default_of_lambda


def main():
    return of_default_of_lambda(1), effects.base.TABLE
