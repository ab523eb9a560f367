__all__ = ["Auth", "make"]


class Auth:
    pass


def make():
    return Auth()
