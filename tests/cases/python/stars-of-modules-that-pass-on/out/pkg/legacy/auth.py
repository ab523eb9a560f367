from pkg.legacy.made import Auth


__all__ = ["make"]


def make():
    return Auth()
