import effects.base
from effects.z_harmless.add import of_z_harmless


def main():
    return of_z_harmless(1), effects.base.TABLE
