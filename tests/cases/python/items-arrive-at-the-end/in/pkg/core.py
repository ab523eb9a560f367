"""Is imported first; what is made of it comes back to it."""


class Optic:
    pass


def focus(value):
    return Optic, value
