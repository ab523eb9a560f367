class Simple:
    pass
