class Auth:
    pass
