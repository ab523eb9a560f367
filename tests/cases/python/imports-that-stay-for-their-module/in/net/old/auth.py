class Auth:
    pass


def check():
    return "checked"
